"""Spans that are known to be missing: no handoff is a PASS because of what is not there."""

from __future__ import annotations

from itertools import permutations

import pytest

from rop_otel import semconv
from rop_otel.core.handoff import Verdict
from rop_otel.replay import replay
from rop_otel.spans import Span
from tests.spans.trace import handoff, span, stage

OTHER = "cd" * 16


def gap(number: int, *, trace: str = OTHER, named: str | None = None) -> Span:
    """Return the span with which the monitor says that it refused some."""
    attributes = {semconv.GAPS: ["refused"], **({} if named is None else {semconv.HANDOFF_ID: named})}
    return span(number, trace=trace, name=semconv.SPAN_GAP, scope=semconv.SCOPE_NAME, attributes=attributes)


TOP = handoff(1, "d1")
VECTOR = stage(2, "vector", "d1", parent=1)
PACKING = stage(5, "packing", "d2", parent=1)


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ([gap(9, trace=TOP.trace_id)], "were refused"),
        ([gap(9, named=f"{TOP.trace_id}-{TOP.span_id}")], "were refused"),
        ([stage(2, "packing", "d2", parent=1, start_ns=7)], "one span ID"),
        ([stage(2, "packing", "d2", parent=1, name="packing")], "one span ID"),
        ([stage(1, "packing", "d2", parent=1, name="packing")], "one span ID"),
        ([span(2, parent=77)], "one span ID"),
        ([span(5, parent=1, dropped_attributes=1, attributes={semconv.RETURNED_IDS: ["d2"]})], "lost attributes"),
    ],
    ids=["in the trace", "by name", "a stage", "of another service", "the handoff's ID", "another's", "no longer one"],
)
def test_what_is_missing_is_no_pass(missing: list[Span], says: str) -> None:
    """Whatever order spans come in, the verdict is UNVERIFIABLE, the note says why, and no finding says more."""
    for spans in permutations([TOP, VECTOR, *missing]):
        [assessment] = replay(spans).assessments
        assert assessment.verdict is Verdict.UNVERIFIABLE
        assert says in (assessment.note or "")
        assert "thread" not in str(assessment)
        assert assessment.findings == ()


def test_what_else_lost_attributes_is_no_pass() -> None:
    """A handoff may have lost its cutoff, or the rule by which documents count."""
    [assessment] = replay([handoff(1, "d1", dropped_attributes=1), VECTOR]).assessments
    assert (assessment.verdict, "lost attributes" in (assessment.note or "")) == (Verdict.UNVERIFIABLE, True)


def test_a_gap_elsewhere() -> None:
    """What is missing in another trace, or in another handoff, is no matter."""
    [assessment] = replay([TOP, VECTOR, gap(9), gap(8, named="h")]).assessments
    assert assessment.verdict is Verdict.PASS


def test_findings_of_a_handoff_with_a_gap() -> None:
    """Only what a stage says of itself is reported: what stands between stages may be what is missing."""
    top = handoff(1, "d1", given={semconv.EXPECTED_STAGES: ["vector", "rerank", "packing"]})
    stages = [
        stage(2, "vector", "d1", "d1", parent=1),
        stage(5, "packing", "d9", parent=1, given={semconv.INPUT_IDS: ["d8"]}),
    ]
    before, after = (replay([top, *stages, *more]).assessments[0] for more in ([], [gap(9, trace=top.trace_id)]))
    assert {str(each.code) for each in before.findings} > {"duplicate_ids", "stage_not_observed", "foreign_ids"}
    assert [str(each.code) for each in after.findings] == ["duplicate_ids"]


def test_shared_ids_that_lose_nothing() -> None:
    """A span of somebody else with the ID of a stage, below the same span, and a span recorded twice, are no gap."""
    zipkin = span(2, parent=1, name="GET /search", start_ns=3)
    early = stage(2, "vector", parent=1, end_ns=2)
    for spans in permutations([TOP, VECTOR, zipkin, early]):
        [assessment] = replay(spans).assessments
        assert assessment.verdict is Verdict.PASS
