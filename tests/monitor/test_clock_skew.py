"""Services whose clocks differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.assembling import assemble
from rop_otel.core.handoff import Verdict, assess
from rop_otel.monitor.clock_skew import with_one_clock
from rop_otel.spans import Span
from tests.monitor.kept import Kept
from tests.spans.trace import handoff, span, stage

HOUR = 3_600_000_000_000


def times(spans: list[Span]) -> dict[str, tuple[int, int]]:
    return {each.span_id[-1]: (each.start_ns, each.end_ns) for each in spans}


def across_services(ahead: int) -> list[Span]:
    """Return a handoff whose retrieval ran in a service with a clock that is ahead; one of its stages in a third."""
    return [
        handoff(1, "d1", service="selector", start_ns=HOUR, end_ns=HOUR + 100),
        span(2, parent=1, service="selector", start_ns=HOUR + 10, end_ns=HOUR + 40),
        stage(
            3, "vector", "d1", "d2", parent=2, service="retriever", start_ns=HOUR + ahead + 12, end_ns=HOUR + ahead + 38
        ),
        stage(4, "rerank", "d1", parent=3, service="ranker", start_ns=HOUR + 20, end_ns=HOUR + 30),
        stage(5, "packing", "d1", parent=1, service="selector", start_ns=HOUR + 50, end_ns=HOUR + 60),
    ]


@pytest.mark.parametrize("ahead", [0, HOUR // 2, -HOUR // 2, 2, -2])
def test_an_hour_ahead_loses_no_stage(ahead: int, keep: Callable[..., Kept]) -> None:
    """A stage in a service whose clock is far off counts as if it were not, and so does one below it."""
    [record] = assemble(with_one_clock(across_services(ahead))).handoffs
    assert assess(record).verdict is Verdict.PASS
    assert [each.kind for each in sorted(record.stages, key=lambda each: each.start_ns)] == [
        "vector",
        "rerank",
        "packing",
    ]
    kept = keep()
    kept.send(*across_services(ahead))
    kept.wait()
    assert kept.verdicts() == ["PASS"]


def test_without_it_the_stage_would_be_late() -> None:
    """The same spans as they are: the retrieval seems to end after its handoff."""
    [record] = assemble(across_services(HOUR // 2)).handoffs
    assert any(each.end_ns is None or each.end_ns > record.end_ns for each in record.stages)


def test_the_smallest_shift() -> None:
    """A child is moved to the nearest end of its parent, and one that lies within it is not moved."""
    parent = span(1, service="a", start_ns=100, end_ns=200)
    inside = span(2, parent=1, service="b", start_ns=120, end_ns=130)
    early = span(3, parent=1, service="c", start_ns=50, end_ns=80)
    late = span(4, parent=1, service="d", start_ns=190, end_ns=250)
    assert times(with_one_clock([parent, inside, early, late])) == {
        "1": (100, 200),
        "2": (120, 130),
        "3": (100, 130),
        "4": (140, 200),
    }


def test_a_child_that_is_longer_than_its_parent() -> None:
    """No shift puts it within: it begins with its parent."""
    spans = [span(1, service="a", start_ns=100, end_ns=200), span(2, parent=1, service="b", start_ns=1000, end_ns=2000)]
    assert times(with_one_clock(spans))["2"] == (100, 1100)


def test_services_that_call_each_other() -> None:
    """The service at the top keeps its time, also where it is called back."""
    spans = [
        span(1, service="a", start_ns=100, end_ns=200),
        span(2, parent=1, service="b", start_ns=1110, end_ns=1190),
        span(3, parent=2, service="a", start_ns=120, end_ns=130),
    ]
    assert times(with_one_clock(spans)) == {"1": (100, 200), "2": (120, 200), "3": (120, 130)}


def test_times_that_are_not_known() -> None:
    """A span without times moves nothing and is not moved."""
    spans = [span(1, service="a", start_ns=0, end_ns=0), span(2, parent=1, service="b", start_ns=5, end_ns=9)]
    assert with_one_clock(spans) == spans


@given(st.integers(-(10**15), 10**15), st.integers(-(10**15), 10**15), st.permutations(range(5)))
def test_any_clocks(retriever: int, ranker: int, order: list[int]) -> None:
    """Whatever the clocks show, each service's spans keep their distances and lie within what called them."""
    shifts = {"selector": 0, "retriever": retriever, "ranker": ranker}
    base = 2 * 10**15
    spans = [
        replace(
            each,
            start_ns=each.start_ns + base + shifts[str(each.service)],
            end_ns=each.end_ns + base + shifts[str(each.service)],
        )
        for each in across_services(0)
    ]
    found = {each.span_id: each for each in with_one_clock([spans[place] for place in order])}
    for each in spans:
        moved = found[each.span_id]
        assert moved.end_ns - moved.start_ns == each.end_ns - each.start_ns
        if each.parent_id is not None:
            parent = found[each.parent_id]
            assert parent.start_ns <= moved.start_ns <= moved.end_ns <= parent.end_ns
