"""What every store does: a new one is added to ``STORES``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from rop_otel.core.handoff import Assessment, Verdict
from rop_otel.core.handoff.assessment import StageScores
from rop_otel.core.handoff.sums import Sums
from rop_otel.core.handoff.totals import Totals
from rop_otel.monitor import sqlite_queries, sqlite_totals
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.monitor.store import Settled, Store, StoredHandoff, StoredRun, Wanted
from tests.spans.trace import TRACE, pipeline

OTHER = "cd" * 16
STORES: list[Callable[[Path], Store]] = [lambda folder: SqliteStore(str(folder / "kept.db"))]


@pytest.fixture(params=STORES, ids=["sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    return lambda: request.param(tmp_path)


def stored(number: int, **fields: object) -> StoredHandoff:
    made = StoredHandoff(
        handoff_id=f"h{number}",
        trace_id=f"{number:032x}",
        name="qa",
        verdict="PASS" if number % 2 else "FAIL",
        row={"handoff_id": f"h{number}", "text": "é\u202e<script>"},
        sums=sums(number),
    )
    made = replace(made, **fields)  # type: ignore[arg-type]
    findings = [list(finding) for finding in made.findings]
    return replace(made, row={**made.row, "verdict": made.verdict, "findings": findings})


def sums(number: int) -> Sums:
    scores = StageScores(stage="vector", name=f"arm{number % 3}", returned=number, present=True, selected={"rr": 0.1})
    verdict = Verdict.PASS if number % 2 else Verdict.FAIL
    return Sums.of(Assessment(handoff_name="qa", verdict=verdict, stages=(scores,)))


def settled(handoff: StoredHandoff, at_ns: int | None = None) -> Settled:
    """Return a trace with one handoff; its number is when it was settled."""
    at_ns = int(handoff.handoff_id[1:]) * SECOND if at_ns is None else at_ns
    return Settled(traces=(handoff.trace_id,), handoffs=(handoff,), named=(handoff.handoff_id,), at_ns=at_ns)


SECOND = 1_000_000_000
ANY = Wanted()


def ids(store: Store, wanted: Wanted = ANY) -> list[str]:
    return [row["handoff_id"] for row in store.handoffs(wanted, limit=100).rows]


def added_up(store: Store, wanted: Wanted = ANY) -> Totals:
    """Return what the totals of a store say."""
    whole = Sums()
    for _, each in store.sums(wanted):
        whole.merge(each)
    return whole.totals()


def test_spans_are_open_until_they_are_settled(reopen: Callable[[], Store]) -> None:
    """Spans come back as they were, in their order, also after the store was closed."""
    spans = pipeline()
    store = reopen()
    store.spool(spans[:3])
    store.spool(spans[3:])
    store.close()
    store = reopen()
    assert list(store.open_spans()) == spans
    assert store.spans_of([TRACE], []) == []
    store.settle([Settled(traces=(TRACE,), handoffs=(stored(1, trace_id=TRACE),), named=("h1",))])
    assert list(store.open_spans()) == []
    assert store.spans_of([TRACE], []) == store.spans_of([], ["h1"]) == spans


def test_traces_without_a_handoff_leave_nothing(reopen: Callable[[], Store]) -> None:
    """Their spans are deleted."""
    store = reopen()
    store.spool(pipeline())
    store.settle([Settled(traces=(TRACE,))])
    assert (list(store.open_spans()), store.spans_of([TRACE], [])) == ([], [])


def test_traces_that_share_a_handoff(reopen: Callable[[], Store]) -> None:
    """The spans of all of them are found from each."""
    store = reopen()
    spans = [*pipeline(), *pipeline(trace=OTHER)]
    store.spool(spans)
    store.settle([Settled(traces=(TRACE, OTHER), handoffs=(stored(1),), named=("h1",))])
    for traces, handoffs in [([TRACE], []), ([OTHER], []), ([], ["h1"])]:
        assert sorted(store.spans_of(traces, handoffs), key=repr) == sorted(spans, key=repr)


def test_many_traces_that_share_handoffs(reopen: Callable[[], Store]) -> None:
    """Each trace and each handoff is asked for once: in less than a second, where it took a minute."""
    store = reopen()
    traces, named = ([f"{name}{number}" for number in range(200)] for name in "th")
    store.settle([Settled(traces=tuple(traces), handoffs=(stored(1),), named=tuple(named))])
    begun = time.monotonic()
    assert store.spans_of(traces[:1], []) == []
    assert time.monotonic() - begun < 5


def test_pages(reopen: Callable[[], Store]) -> None:
    """The one settled last first, page by page, each once, those of one moment too; new ones move no page."""
    store = reopen()
    store.settle([settled(stored(number), number // 3 * SECOND) for number in range(10)])
    seen: list[str] = []
    after: str | None = None
    while True:
        page = store.handoffs(Wanted(), limit=3, after=after)
        seen += [row["handoff_id"] for row in page.rows]
        store.settle([settled(stored(100 + len(seen)))])
        if page.after is None:
            break
        after = page.after
    assert seen == ["h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1", "h0"]
    with pytest.raises(ValueError, match="not from a page"):
        store.handoffs(Wanted(), limit=3, after="'; DROP TABLE handoffs")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), ["h3", "h2", "h1"]),
        (Wanted(verdict="PASS"), ["h3", "h1"]),
        (Wanted(verdict="FAIL", name="qa"), ["h2"]),
        (Wanted(at="mmr/title/2"), ["h2"]),
        (Wanted(at="mmr"), []),
        (Wanted(at="mmr/*"), ["h2"]),
        (Wanted(at="mmr/*", verdict="FAIL"), ["h2"]),
        (Wanted(at="mm/*"), []),
        (Wanted(at="*/*"), []),
        (Wanted(cause="mmr"), ["h2"]),
        (Wanted(cause="-"), ["h3", "h1"]),
        (Wanted(finding="silent_cut"), ["h3", "h2"]),
        (Wanted(finding="silent_cut@mmr"), ["h3", "h2"]),
        (Wanted(finding="silent_cut@vector"), []),
        (Wanted(finding="silent_cut", verdict="FAIL", cause="mmr", text="H2"), ["h2"]),
        (Wanted(service="web"), ["h1"]),
        (Wanted(service="-"), ["h3", "h2"]),
        (Wanted(run="r"), ["h3"]),
        (Wanted(run="-"), ["h2", "h1"]),
        (Wanted(record="Q"), ["h1"]),
        (Wanted(record="h"), []),
        (Wanted(object="DOC-1"), ["h3"]),
        (Wanted(object="q1"), []),
        (Wanted(text="q1"), ["h1"]),
        (Wanted(text="doc"), ["h3"]),
        (Wanted(text="Ä"), ["h3"]),
        (Wanted(text="h2"), ["h2"]),
        (Wanted(text=f"{2:032x}"), ["h2"]),
        (Wanted(text="h2", finding="silent_cut", cause="mmr"), ["h2"]),
        (Wanted(text="h1", finding="silent_cut"), []),
        (Wanted(text=f"{3:032x}", verdict="FAIL"), []),
        (Wanted(run="-", cause="-"), ["h1"]),
        (Wanted(text="%"), []),
        (Wanted(text="' OR 1=1 --"), []),
        (Wanted(since_ns=2 * SECOND), ["h3", "h2"]),
        (Wanted(until_ns=2 * SECOND), ["h1"]),
        (Wanted(since_ns=2 * SECOND, until_ns=3 * SECOND, verdict="FAIL", name="qa"), ["h2"]),
    ],
)
def test_filters(reopen: Callable[[], Store], wanted: Wanted, expected: list[str]) -> None:
    """Each filter, and all that are given together; what they hold is never taken for a pattern or a query."""
    store = reopen()
    cut = ("silent_cut", "mmr")
    store.settle(
        [
            settled(stored(1, service="web", record_id="q1")),
            settled(stored(2, at="mmr/title/2", cause="mmr", findings=(cut, ("ids_missing", None)))),
            settled(stored(3, run_id="r", objects=("doc-12", "äö"), findings=(cut, cut))),
        ]
    )
    assert ids(store, wanted) == expected


def test_rare_ones_are_looked_for_in_steps(reopen: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    """A page ends when it was looked for long, and goes on from there, so that all are found in the end."""
    monkeypatch.setattr(sqlite_queries, "_WINDOW", 2)
    monkeypatch.setattr(sqlite_queries, "_LOOK_SECONDS", -1.0)
    store = reopen()
    store.settle([settled(stored(number, name="rare" if number in (2, 9) else "qa")) for number in range(1, 12)])
    wanted = Wanted(name="rare", verdict="PASS")
    steps, found = 0, []
    after: str | None = None
    while steps == 0 or after is not None:
        page = store.handoffs(wanted, limit=5, after=after)
        steps, after = steps + 1, page.after
        found += [row["handoff_id"] for row in page.rows]
    assert found == ["h9"]
    assert ids(store, Wanted(verdict="PASS")) == ["h11", "h9", "h7", "h5", "h3", "h1"], "one filter alone is at once"


def test_one_handoff(reopen: Callable[[], Store]) -> None:
    """It comes back as it was, and later facts take the place of earlier ones, in the totals too."""
    store = reopen()
    first = stored(1, findings=(("silent_cut", "mmr"),))
    store.settle([settled(first)])
    assert store.handoffs(Wanted(), limit=5).rows == (first.row,)
    later = stored(1, verdict="FAIL", at="mmr", cause="mmr", sums=sums(2))
    store.settle([settled(later)])
    assert store.handoffs(Wanted(), limit=5).rows == (later.row,)
    assert (store.trace_of("h1"), store.trace_of("h2")) == (later.trace_id, None)
    assert added_up(store) == sums(2).totals()
    assert ids(store, Wanted(finding="silent_cut")) == []


def test_totals(reopen: Callable[[], Store]) -> None:
    """They are those of the handoffs that are kept, by the hour, name, service and run, whatever comes and goes."""
    store = reopen()
    hour = 3600 * SECOND
    kept = {number: stored(number, name=f"n{number % 2}", service=f"s{number % 3}") for number in range(1, 13)}
    store.settle([settled(each, number // 4 * hour + number) for number, each in kept.items()])
    store.settle([settled(kept[3], 2 * hour + 500)])
    store.forget(before_ns=hour)
    left = [number for number in kept if number >= 3]
    assert_totals(added_up(store), left)
    for wanted, expected in [
        (Wanted(name="n0"), [number for number in left if number % 2 == 0]),
        (Wanted(name="n1", service="s2"), [5, 11]),
        (Wanted(run="-"), left),
        (Wanted(run="r"), []),
        (Wanted(since_ns=2 * hour), [3, 8, 9, 10, 11, 12]),
        (Wanted(until_ns=2 * hour), [4, 5, 6, 7]),
        (Wanted(since_ns=2 * hour + 1, until_ns=2 * hour + 2), [3, 8, 9, 10, 11]),
    ]:
        assert_totals(added_up(store, wanted), expected)
    starts = [start for start, _ in store.sums(Wanted())]
    assert starts == [hour, 2 * hour, 3 * hour]
    store.forget(before_ns=10 * hour)
    assert list(store.sums(Wanted())) == list(store.sums(Wanted(name="n0"))) == []


def assert_totals(found: Totals, numbers: Iterable[int]) -> None:
    expected = Sums()
    for number in numbers:
        expected.merge(sums(number))
    expect = expected.totals()
    assert (found.handoffs, found.verdicts, set(found.stages)) == (
        expect.handoffs,
        expect.verdicts,
        set(expect.stages),
    )
    for spot, lists in expect.stages.items():
        assert (found.stages[spot].selected, found.stages[spot].returned) == (lists.selected, lists.returned)
        assert found.stages[spot].selected_means["rr"] == pytest.approx(0.1)


def test_names_without_end(reopen: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that have no totals of their own count in those of all, and are taken out again there."""
    monkeypatch.setattr(sqlite_totals, "_MOST_OF_AN_HOUR", 3)
    store = reopen()
    store.settle([settled(stored(number, name=f"n{number}")) for number in range(1, 9)])
    assert added_up(store).handoffs == 8
    assert [added_up(store, Wanted(name=f"n{number}")).handoffs for number in (1, 3, 4)] == [1, 1, 0]
    store.forget(before_ns=6 * SECOND)
    assert added_up(store).handoffs == 3


def test_runs(reopen: Callable[[], Store]) -> None:
    """They count their handoffs and different records, also after some are settled again or deleted."""
    store = reopen()
    store.settle([settled(stored(number, run_id="r", record_id=f"q{number % 3}")) for number in range(1, 6)])
    store.settle([settled(stored(6, run_id="s", record_id="q", observation=b"{6}"))])
    store.settle([settled(stored(7, observation=b"{7}")), settled(stored(8))])
    run = StoredRun(
        run_id="r",
        handoffs=5,
        records=3,
        declared=0,
        verdicts={"PASS": 3, "FAIL": 2},
        first_ns=SECOND,
        last_ns=5 * SECOND,
    )
    assert store.run("r") == run
    assert [(each.run_id, each.declared) for each in store.runs(10)] == [("-", 1), ("s", 1), ("r", 0)]
    assert len(store.runs(1)) == 1
    assert [line for _, line in store.observations_of("s")] == [b"{6}"]
    assert list(store.observations_of("-")) == [(7 * SECOND, b"{7}")]
    assert list(store.observations_of("-", after=7 * SECOND)) == list(store.observations_of("r")) == []
    store.settle([settled(stored(5, run_id="r", record_id="new"))])
    store.forget(before_ns=4 * SECOND)
    left = replace(run, handoffs=2, records=2, verdicts={"FAIL": 1, "PASS": 1}, first_ns=4 * SECOND)
    assert store.run("r") == left
    store.forget(before_ns=9 * SECOND)
    assert (store.run("r"), store.run("-"), store.runs(10)) == (None, None, [])


def test_the_oldest_go(reopen: Callable[[], Store]) -> None:
    """Those before a time, or the oldest above a size, in steps, with their spans; open spans stay."""
    store = reopen()
    for number in range(1, 7):
        trace = f"{number:032x}"
        store.spool(pipeline(trace=trace))
        store.settle([settled(stored(number))])
    store.spool(pipeline(trace=OTHER))
    assert store.forget(before_ns=3 * SECOND) == 2
    assert store.forget(before_ns=3 * SECOND) == 0
    assert ids(store) == ["h6", "h5", "h4", "h3"]
    assert store.forget(before_ns=0, max_bytes=1, limit=3) == 3
    assert (ids(store), store.spans_of([f"{4:032x}"], [])) == (["h6"], [])
    assert len(list(store.open_spans())) == len(pipeline())
