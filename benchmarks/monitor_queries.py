"""How long the monitor's API takes with many handoffs in its store: CPU and wall time of each kind of question.

    python benchmarks/monitor_queries.py --handoffs 1000000 --store kept.db

Handoffs are put into the store directly, not through the doors, a week of them; a store of that name that is there is
asked again.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.testclient import TestClient

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.core.handoff import assess
from rop_otel.meters.tally import Tally
from rop_otel.monitor.http_door import create_app
from rop_otel.monitor.service import Monitor, MonitorSettings
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.monitor.store import NONE, Settled, StoredHandoff, Wanted
from rop_otel.monitor.stored import stored_handoff
from rop_otel.spans import Span

WEEK_NS = 7 * 86_400 * 1_000_000_000
GROUP = 1000
ROUNDS = 20
WITH_SPANS = 2000
TARGET_MS = 100
NAMES = ("qa", "chat", "search", "support", "agent")
SERVICES = ("web", "mobile", "batch")


class Took(NamedTuple):
    """Milliseconds of one question."""

    cpu: float
    wall: float


def main() -> None:
    """Fill, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--handoffs", type=int, default=100_000)
    parser.add_argument("--store", default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = given.store or str(Path(folder) / "kept.db")
        is_new = not Path(file).exists()
        store = SqliteStore(file)
        if is_new:
            begun = time.process_time()
            fill(store, given.handoffs)
            spent = (time.process_time() - begun) / given.handoffs * 1e6
            print(f"Filled with {given.handoffs:,} handoffs, {spent:.0f} us CPU each; {_size(file):,.0f} bytes each")
        ask(store)


def fill(store: SqliteStore, count: int) -> None:
    """Put handoffs of a week into a store, the last of them with spans."""
    draw = random.Random(11)
    now = time.time_ns()
    kinds = list(_kinds())
    for numbers in (range(first, min(first + GROUP, count)) for first in range(0, count, GROUP)):
        settled = []
        for number in numbers:
            made, spans = _made(draw, kinds, number)
            if number >= count - WITH_SPANS:
                store.spool(spans)
            at_ns = now - WEEK_NS + WEEK_NS * number // count
            settled.append(Settled(traces=(made.trace_id,), handoffs=(made,), named=(made.handoff_id,), at_ns=at_ns))
        store.settle(settled)


def _kinds() -> Iterator[tuple[StoredHandoff, list[Span]]]:
    """Yield a handoff for each way in which one fares, with its spans."""
    stages = ("vector", "lexical", "fusion", "rerank", "mmr", "packing")
    for lost_at in (None, *stages[2:]):
        spans = [_span(1, None, {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["doc-7"], semconv.CUTOFF: 10})]
        kept = True
        for number, stage in enumerate(stages, 2):
            kept = kept and stage != lost_at
            ids = [f"doc-{rank}" for rank in range(40) if kept or rank != 7]
            spans.append(_span(number, 1, {semconv.STAGE: stage, semconv.RETURNED_IDS: ids}))
        [record] = assemble(spans).handoffs
        yield stored_handoff(record, assess(record), service="web"), spans


def _span(number: int, parent: int | None, attributes: dict[str, Any]) -> Span:
    return Span(
        trace_id="0" * 32,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name="stage",
        kind=1,
        start_ns=number,
        end_ns=100 if parent is None else number + 1,
        attributes=attributes,
    )


def _made(
    draw: random.Random, kinds: list[tuple[StoredHandoff, list[Span]]], number: int
) -> tuple[StoredHandoff, list[Span]]:
    like, spans = kinds[0] if draw.random() < 0.9 else kinds[draw.randrange(1, len(kinds))]
    trace_id = f"{draw.getrandbits(128):032x}"
    handoff_id = f"{trace_id}-{1:016x}"
    name = NAMES[min(int(draw.expovariate(0.7)), len(NAMES) - 1)]
    service = SERVICES[len(name) % len(SERVICES)]
    record_id = f"q{draw.randrange(100_000)}"
    run_id = f"run-{number // 100_000}" if number % 100 == 0 else None
    objects = (f"doc-{draw.randrange(1_000_000)}#{draw.randrange(9)}",)
    row = {
        **like.row,
        "handoff_id": handoff_id,
        "trace_id": trace_id,
        "handoff_name": name,
        "service": service,
        "record_id": record_id,
        "run_id": run_id,
        "selected": list(objects),
    }
    made = replace(
        like,
        handoff_id=handoff_id,
        trace_id=trace_id,
        name=name,
        service=service,
        record_id=record_id,
        run_id=run_id or NONE,
        objects=objects,
        row=row,
    )
    return made, [replace(span, trace_id=trace_id) for span in spans]


def ask(store: SqliteStore) -> None:
    """Ask every kind of question, and print how long each takes."""
    monitor = Monitor(store, Tally(), settings=MonitorSettings(retention_seconds=None))
    with TestClient(create_app(monitor, only_loopback=False)) as client:
        print(f"{'':<34}{'CPU p50':>9}{'p99':>9}{'wall p50':>10}{'p99':>9}  ms; target: all < {TARGET_MS}")
        for name, urls in _questions(store).items():
            _report(name, [_timed(lambda: client.get(url), url) for url, _ in zip(cycle(urls), range(ROUNDS))])  # noqa: B023
    monitor.store.close()


def _timed(get: Callable[[], Any], url: str) -> Took:
    cpu, wall = time.process_time(), time.perf_counter()
    answer = get()
    took = Took((time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000)
    if answer.status_code != 200:
        raise RuntimeError(f"{url}: {answer.status_code} {answer.text[:200]}")
    return took


def _report(name: str, times: list[Took]) -> None:
    cpu, wall = (sorted(each) for each in zip(*times, strict=True))
    middle, last = len(times) // 2, -1
    print(f"  {name:<32}{cpu[middle]:>9.1f}{cpu[last]:>9.1f}{wall[middle]:>10.1f}{wall[last]:>9.1f}")


def _questions(store: SqliteStore) -> dict[str, list[str]]:
    """Return the paths of each kind of question."""
    rows = store.handoffs(Wanted(), limit=ROUNDS).rows
    middle = time.time_ns() - WEEK_NS // 2
    whole = [row["handoff_id"] for row in rows]
    filters = {
        "one value": [
            "verdict=FAIL",
            "at=mmr",
            "cause=reranked_away",
            "name=agent",
            "service=web",
            "finding=silent_cut",
        ],
        "none has it": ["verdict=UNVERIFIABLE", "at=rescue", "name=none", "finding=scope_leak", "run=none"],
        "several": ["verdict=FAIL&name=agent&service=batch", "at=mmr&name=qa", "cause=reranked_away&service=web"],
        "several, rare": ["verdict=PASS&cause=silent_cut", "name=qa&service=batch", "name=qa&record=q77777"],
        "a span of time": [f"since={middle // 10**9}", f"until={middle // 10**9}&verdict=FAIL"],
        "whole ID": [f"q={each}" for each in whole],
        "part of an ID": [f"q={each[5:25]}" for each in whole] + ["q=q777", "q=doc-77"],
        "part that none has": ["q=nobody-has-this", "record=x", "object=nobody"],
    }
    asked = {name: [f"/api/handoffs?{each}" for each in texts] for name, texts in filters.items()}
    return {
        "newest 50": ["/api/handoffs"],
        "newest 2,000": ["/api/handoffs?limit=2000"],
        "deep page": [f"/api/handoffs?after={middle}", f"/api/handoffs?after={middle}&verdict=FAIL"],
        **asked,
        "one handoff": [f"/api/handoffs/{each}" for each in whole],
        "summary": ["/api/summary"],
        "summary of a name": [f"/api/summary?name={name}" for name in NAMES],
        "summary of a day": [f"/api/summary?since={(time.time_ns() - WEEK_NS // 7) // 10**9}"],
        "runs": ["/api/runs"],
        "one run": ["/api/runs/run-0"],
        "compare 2,000 with 2,000": [
            f"/api/compare?before={quote(f'until={middle // 10**9}')}&after={quote(f'since={middle // 10**9}')}"
        ],
        "head": ["/api/head"],
    }


def _size(file: str) -> float:
    store = SqliteStore(file, only_read=True)
    count = sum(sums.handoffs for _, sums in store.sums(Wanted()))
    store.close()
    return Path(file).stat().st_size / count


if __name__ == "__main__":
    main()
