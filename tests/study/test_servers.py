"""Language models behind a real HTTP server, well and badly behaved."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.study.omission.chat_server import MAX_WAIT, ChatServer
from rop_otel.study.omission.deletion_items import Item
from rop_otel.study.omission.reader_calls import MAX_WAITS, Call, Outcome, Policy, ask, run_calls
from rop_otel.study.omission.shown_passages import INSTRUCTION, Passage
from tests.study.chat_server import Reply, Served, completion, serving
from tests.study.commands import Command
from tests.study.frozen import freeze, json_lines, page, question, ranking

PASSAGES = (Passage(id="a", title="A", text="First."), Passage(id="b", title="B", text="Second."))
KEY = "a-secret-key"


def call(number: int = 1) -> Call:
    item = Item(
        id=f"q{number}",
        selector="default",
        question="Which?",
        answer="A",
        arms={"intact": PASSAGES},
        answer_elsewhere=False,
        text_elsewhere=False,
    )
    return Call(item=item, arm="intact", repeat=1)


def asked(served: Served, *, attempts: int = 2, seconds: float = 20) -> tuple[Outcome, list[float]]:
    """Make one call; return its outcome and the pauses that were taken."""
    pauses: list[float] = []
    policy = Policy(attempts=attempts, seconds=seconds, backoff=1.0, pause=pauses.append)
    return ask(server_of(served, seconds=seconds), call(), policy), pauses


def server_of(served: Served, *, seconds: float = 20) -> ChatServer:
    return ChatServer(served.url, model="m", key=KEY, temperature=0.5, seconds=seconds)


def once(reply: Reply | None) -> Callable[[int, str], Reply | None]:
    """Return replies of which only the first is the given one; the others answer."""
    return lambda number, prompt: completion("A") if number else reply


def test_what_is_sent() -> None:
    """The model gets the instruction, the passages and the question; the key goes into the header."""
    with serving(lambda number, prompt: completion("A")) as served:
        outcome, _ = asked(served)
    assert outcome == Outcome(answer="A", requests=1)
    ((headers, body),) = served.requests
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "path": "/v1/chat/completions",
        "model": "m",
        "temperature": 0.5,
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": "A: First.\n\nB: Second.\n\nQuestion: Which?"},
        ],
    }


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((500, {}, b"oops"), "the server says 500"),
        ((502, {}, b"<html>"), "the server says 502"),
        ((503, {}, b""), "the server says 503"),
        ((200, {}, b"<html>not json"), "is no JSON"),
        ((200, {}, b""), "is no JSON"),
        ((200, {}, b"[" * 100_000), "is no JSON"),
        ((200, {}, b"[]"), "is no chat completion"),
        ((200, {}, b'{"choices": []}'), "is no chat completion"),
        (completion(None), "is no chat completion"),
        (completion(7), "is no chat completion"),
        ((200, {}, b'{"error": {"message": "overloaded"}}'), "reports an error: overloaded"),
        ((200, {}, b'{"error": "overloaded"}'), "reports an error: overloaded"),
        ((200, {}, json.dumps({"choices": [{"message": {"content": "\ud800"}}]}).encode()), "surrogate"),
        ((200, {"Content-Length": "9999"}, b"{"), "is no JSON"),
        (None, "cannot be reached: RemoteDisconnected"),
    ],
)
def test_a_server_that_fails(reply: Reply | None, reason: str) -> None:
    """A failed attempt is followed by another; when all have failed, the call has, with the reason."""
    with serving(once(reply)) as served:
        assert asked(served)[0] == Outcome(answer="A", requests=2)
    with serving(lambda number, prompt: reply) as served:
        outcome, pauses = asked(served, attempts=4)
    assert (outcome.answer, outcome.requests, pauses) == (None, 4, [1.0, 2.0, 4.0])
    assert reason in str(outcome.failure)


def test_an_empty_answer_is_an_answer() -> None:
    """A model that says nothing has answered."""
    with serving(lambda number, prompt: completion("")) as served:
        assert asked(served)[0] == Outcome(answer="", requests=1)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_is_refused_is_not_repeated(status: int) -> None:
    """What was wrong with the request would be wrong again."""
    with serving(lambda number, prompt: (status, {}, b"")) as served:
        outcome, pauses = asked(served)
    assert (outcome.requests, pauses) == (1, [])
    assert f"the server says {status}" in str(outcome.failure)


@pytest.mark.parametrize(
    ("status", "headers"), [(401, {}), (403, {}), (404, {}), (307, {"Location": "http://127.0.0.1:1/elsewhere"})]
)
def test_a_server_that_refuses_everything_ends_the_study(status: int, headers: dict[str, str]) -> None:
    """A wrong key, address or redirect is an error of the set-up, not a study of zeros; the key goes nowhere else."""
    with (
        serving(lambda number, prompt: (status, headers, b"who are you?")) as served,
        pytest.raises(ConfigurationError, match=f"the server says {status}.*who are you") as refused,
    ):
        list(run_calls([call(number) for number in range(20)], server_of(served), Policy(parallel=2)))
    assert KEY not in str(refused.value)
    assert len(served.requests) < 20


@pytest.mark.parametrize(("status", "header", "pause"), [(429, "3", 3.0), (503, "0.5", 0.5), (429, None, 1.0)])
def test_a_server_that_asks_to_wait(status: int, header: str | None, pause: float) -> None:
    """A wait that the server asks for is taken, and uses up no attempt."""
    headers = {"Retry-After": header} if header else {}
    with serving(once((status, headers, b""))) as served:
        outcome, pauses = asked(served, attempts=1)
    assert (outcome, pauses) == (Outcome(answer="A", requests=2), [pause])


def test_a_date_to_wait_for() -> None:
    """Retry-After may be a date; one that has passed, or cannot be read, asks for nothing more."""
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    for header, low, high in ((later, 20, 31), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("soon", 1, 1), ("nan", 1, 1)):
        with serving(once((429, {"Retry-After": header}, b""))) as served:
            _, pauses = asked(served)
        assert low <= pauses[0] <= high


def test_waits_have_an_end() -> None:
    """A server that asks to wait for ever, or for too long, fails the call."""
    with serving(lambda number, prompt: (429, {"Retry-After": "1"}, b"")) as served:
        outcome, pauses = asked(served, attempts=2)
    assert (outcome.answer, len(pauses), outcome.requests) == (None, MAX_WAITS + 1, MAX_WAITS + 2)
    with serving(lambda number, prompt: (429, {"Retry-After": str(MAX_WAIT + 1)}, b"")) as served:
        outcome, pauses = asked(served)
    assert (outcome.requests, pauses) == (1, [])
    assert "asks to wait longer than" in str(outcome.failure)


def test_a_server_that_never_answers() -> None:
    """A request that hangs is given up when its time is over."""
    hanging = Event()

    def replies(number: int, prompt: str) -> Reply | None:
        hanging.wait(20)
        return None

    with serving(replies) as served:
        outcome, _ = asked(served, attempts=1, seconds=0.1)
        hanging.set()
    assert (outcome.answer, outcome.requests) == (None, 1)


def test_nobody_listens() -> None:
    """A port on which nothing listens is a failed call that says so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        outcome, _ = asked(Served(lambda number, prompt: None, url=f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert "cannot be reached" in str(outcome.failure)


def test_no_more_at_once_than_allowed() -> None:
    """Calls run side by side, and never more than that."""
    together = Event()

    def replies(number: int, prompt: str) -> Reply:
        if number == 2:
            together.set()
        together.wait(20)
        return completion("A")

    with serving(replies) as served:
        calls = [call(number) for number in range(12)]
        answered = [each.key for each, _ in run_calls(calls, server_of(served), Policy(parallel=3))]
    assert sorted(answered) == sorted(each.key for each in calls)
    assert served.most_at_once == 3


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rankings and pages of two questions."""
    rows = [question("q0"), question("q1")]
    pages = [
        page(f"{row['id']}-{name}", f"{name} is answer {row['id'] * (name == 'u')}") for row in rows for name in "uab"
    ]
    lists = [ranking(row, [f"{row['id']}-{name}" for name in "aub"]) for row in rows]
    freeze(tmp_path / "dir", rows, {"title.bm25_body": lists}, pages)
    (tmp_path / "pages.jsonl").write_bytes(json_lines(pages))
    monkeypatch.setenv("MY_KEY", KEY)
    return tmp_path


def run(study: Command, folder: Path, served: Served, *options: object) -> tuple[int, str, dict[str, Any]]:
    ended = study(
        *("omit", folder / "dir", "--corpus", folder / "pages.jsonl", "--out", folder / "out", "--rule", "bm25_body"),
        *("--reader-url", served.url, "--model", "m", "--key-env", "MY_KEY", *options),
    )
    file = folder / "out" / "report.json"
    return ended.code, ended.err, json.loads(file.read_text()) if file.exists() else {}


def right_where_it_is_shown(number: int, prompt: str) -> Reply:
    key = prompt.rpartition("What is ")[2].rstrip("?")
    return completion(f"answer {key}" if f"{key.upper()}-U: " in prompt else "unknown")


def test_a_whole_study(folder: Path, study: Command) -> None:
    """A model gives the known contrast, and the key stands in no file."""
    with serving(right_where_it_is_shown) as served:
        code, _, report = run(study, folder, served)
    assert code == 0
    assert {arm: each["exact"] for arm, each in report["arms"].items()} == {
        "intact": 1.0,
        "trace_drop": 0.0,
        "sham_drop": 1.0,
    }
    assert report["plan"]["answered_by"] == {"name": "m", "url": served.url, "temperature": None}
    assert {headers["Authorization"] for headers, _ in served.requests} == {f"Bearer {KEY}"}
    assert not [file for file in (folder / "out").iterdir() if KEY in file.read_text()]


def test_a_study_that_was_refused_goes_on(folder: Path, study: Command) -> None:
    """What was answered before the server refused is kept, and only the rest is asked."""

    def replies(number: int, prompt: str) -> Reply:
        return (401, {}, b"expired") if refusing and number == 7 else right_where_it_is_shown(number, prompt)

    refusing = True
    with serving(replies) as served:
        code, err, _ = run(study, folder, served, "--parallel", 1)
        assert (code, "401" in err, err.count("\n")) == (2, True, 1)
        assert len((folder / "out" / "calls.jsonl").read_text().splitlines()) == 7
        refusing = False
        code, _, report = run(study, folder, served, "--parallel", 1)
    assert (code, len(served.requests)) == (0, 8 + 18 - 7)
    assert report["arms"]["intact"]["exact"] == 1.0
