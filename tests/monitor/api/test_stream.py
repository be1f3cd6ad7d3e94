"""News of handoffs: added up for each client, and nobody waits for a slow one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from rop_otel.monitor.api.stream import stream
from rop_otel.monitor.subscribers import MOST_ROWS
from tests.monitor.exported import request_of
from tests.monitor.kept import Kept
from tests.monitor.served import Served
from tests.spans.trace import pipeline

Keep = Callable[..., Kept]
PACE = 0.01


def events(kept: Kept) -> AsyncIterator[str]:
    response = stream(kept.monitor.subscribers, pace=PACE)
    assert response is not None
    return response.body_iterator.__aiter__()  # type: ignore[return-value]


def data_of(event: str) -> dict[str, Any]:
    name, data, *rest = event.split("\n")
    assert (name, rest) == ("event: settled", ["", ""])
    found: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return found


def settle(kept: Kept, first: int, count: int) -> None:
    for number in range(first, first + count):
        kept.send(*pipeline(trace=f"{number:032x}"))
    kept.wait()


async def test_news(keep: Keep) -> None:
    """Whoever looks on gets what is settled from then on, once, with the rows of the API."""
    kept = keep()
    settle(kept, 1, 1)
    looking = events(kept)
    assert await anext(looking) == ": here\n\n"
    settle(kept, 2, 2)
    news = data_of(await anext(looking))
    assert news["handoffs"] == kept.rows()[:2]
    assert (news["verdicts"], news["more"], news["places"][-1]) == ({"FAIL": 2}, 0, "shown")
    settle(kept, 4, 1)
    assert data_of(await anext(looking))["verdicts"] == {"FAIL": 1}


async def test_a_slow_client(keep: Keep) -> None:
    """What it has not read is added up: all are counted, the latest are shown."""
    kept = keep()
    looking = events(kept)
    await anext(looking)
    settle(kept, 1, MOST_ROWS + 7)
    settle(kept, MOST_ROWS + 8, 3)
    news = data_of(await anext(looking))
    assert (news["verdicts"], news["more"], len(news["handoffs"])) == ({"FAIL": MOST_ROWS + 10}, 10, MOST_ROWS)
    assert news["handoffs"][0] == kept.rows()[0]


async def test_a_client_that_leaves(keep: Keep) -> None:
    """It makes room for another; there is room for so many."""
    subscribers = keep().monitor.subscribers
    who = [subscribers.join() for _ in range(64)]
    assert None not in who
    assert stream(subscribers) is None
    subscribers.leave(who[0])
    response = stream(subscribers, pace=PACE)
    assert response is not None
    looking = response.body_iterator.__aiter__()
    await anext(looking)
    assert subscribers.join() is None
    await looking.aclose()  # type: ignore[attr-defined]
    assert subscribers.join() is not None


async def test_a_sign_of_life(keep: Keep, monkeypatch: Any) -> None:
    """Where nothing happens, a comment is sent."""
    monkeypatch.setattr("rop_otel.monitor.api.stream._ALIVE_SECONDS", 2 * PACE)
    looking = events(keep())
    assert [await asyncio.wait_for(anext(looking), 10) for _ in range(2)] == [": here\n\n", ": keep-alive\n\n"]


def test_over_the_network(tmp_path: Path) -> None:
    """Events arrive while spans do, a client that reads nothing stops nobody, and the service ends all the same."""
    with (
        Served(tmp_path / "kept.db", quiet=0.05) as served,
        urlopen(f"{served.url}/api/stream", timeout=30) as idle,
        urlopen(f"{served.url}/api/stream", timeout=30) as looking,
    ):
        assert looking.headers["Content-Type"].startswith("text/event-stream")
        assert (idle.status, looking.readline()) == (200, b": here\n")
        for number in range(1, 40):
            assert served.send(request_of(pipeline(trace=f"{number:032x}"))) == 200
        counted = 0
        while counted < 39:
            line = looking.readline().decode()
            if line.startswith("data: "):
                counted += json.loads(line.removeprefix("data: "))["verdicts"]["FAIL"]
        served.process.terminate()
        served.process.wait(20)
