"""Which stage belongs to which handoff, and what belongs nowhere."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.core.handoff import HandoffRecord
from rop_otel.spans import Span
from tests.spans.trace import TRACE, handoff, span, stage

OTHER = "cd" * 16
H1 = {semconv.HANDOFF_ID: "h1"}


def kinds(record: HandoffRecord) -> list[str]:
    return sorted(found.kind for found in record.stages)


def test_by_ancestry() -> None:
    """A stage without a handoff ID belongs to the nearest handoff span above it, through spans of others."""
    [outer, inner] = assemble(
        [
            handoff(1),
            span(2, parent=1),
            stage(3, "outer", parent=2),
            handoff(4, parent=3),
            span(5, parent=4),
            stage(6, "inner", parent=5),
        ]
    ).handoffs
    assert (kinds(outer), kinds(inner)) == (["outer"], ["inner"])
    assert outer.handoff_id == f"{TRACE}-{1:016x}"


def test_by_id_across_traces() -> None:
    """A stage of another trace belongs to the handoff that it names, before the handoff above it."""
    found = assemble([handoff(1, given=H1), handoff(2, trace=OTHER), stage(3, "far", parent=2, trace=OTHER, given=H1)])
    assert [kinds(record) for record in found.handoffs] == [["far"], []]
    assert found.handoffs[0].stages[0].trace_id == OTHER


def test_span_ids_are_of_their_trace() -> None:
    """A parent is looked for in the span's own trace only."""
    found = assemble([handoff(1), stage(2, "vector", parent=1, trace=OTHER)])
    assert (found.orphan_stages, kinds(found.handoffs[0])) == (1, [])


def test_enclosing_stages() -> None:
    """A stage's parent is the nearest stage of the same handoff above it, whatever stands between."""
    [record, _] = assemble(
        [
            handoff(1),
            stage(2, "outer", parent=1),
            span(3, parent=2),
            stage(4, "inner", parent=3),
            handoff(5, parent=4, given=H1),
            stage(6, "other", parent=5),
            stage(7, "back", parent=6, given={semconv.HANDOFF_ID: f"{TRACE}-{1:016x}"}),
        ]
    ).handoffs
    parents = {found.kind: found.parent_id for found in record.stages}
    assert parents == {"outer": None, "inner": f"{2:016x}", "back": f"{4:016x}"}


def test_a_stage_above_its_handoff() -> None:
    """A stage that names the handoff below it encloses the stages of that handoff."""
    above = stage(1, "agent", given=H1)
    [record] = assemble([above, handoff(2, parent=1, given=H1), stage(3, "vector", parent=2)]).handoffs
    assert {found.kind: found.parent_id for found in record.stages} == {"agent": None, "vector": f"{1:016x}"}


def test_what_belongs_nowhere() -> None:
    """A stage without ID and handoff above is an orphan; one that names a handoff never seen makes it incomplete."""
    found = assemble(
        [
            stage(1, "root"),
            stage(2, "cut-off", parent=99),
            stage(3, "a", given={semconv.HANDOFF_ID: "z"}),
            stage(4, "b", given={semconv.HANDOFF_ID: "y"}),
            stage(5, "c", given={semconv.HANDOFF_ID: "z"}),
        ]
    )
    assert (found.handoffs, found.orphan_stages, found.incomplete) == ((), 2, ("y", "z"))


def test_spans_count_once() -> None:
    """A span that arrives twice, as exporters that try again send it, counts once."""
    spans = [handoff(1), stage(2, "vector", "a", parent=1), stage(3, "lost")]
    once = assemble(spans)
    assert assemble(spans + spans) == once
    assert (len(once.handoffs[0].stages), once.orphan_stages, once.duplicates) == (1, 1, ())


def test_spans_that_differ_under_one_id() -> None:
    """Of two different spans with one ID the one that ended last counts, in any order."""
    spans = [handoff(1), stage(2, "early", parent=1), stage(2, "later", parent=1, end_ns=9)]
    assert kinds(assemble(spans).handoffs[0]) == kinds(assemble(spans[::-1]).handoffs[0]) == ["later"]


def test_duplicates() -> None:
    """A second handoff span with an ID is listed, not assessed, and keeps the stages below it to itself."""
    spans = [
        handoff(1, given=H1),
        stage(2, "first", parent=1, given=H1),
        handoff(3, given=H1),
        stage(4, "second", parent=3, given=H1),
        stage(5, "second", parent=3),
        stage(6, "elsewhere", given=H1),
        handoff(7, given=H1),
    ]
    for order in (spans, spans[::-1]):
        found = assemble(order)
        assert [kinds(record) for record in found.handoffs] == [["elsewhere", "first"]]
        assert (found.duplicates, found.orphan_stages) == (("h1",), 0)


def test_handoffs_are_in_order_of_their_start() -> None:
    """Handoffs come in order of their spans' start, then of their IDs."""
    spans = [handoff(3, start_ns=5), handoff(1, start_ns=7), handoff(2, start_ns=5)]
    assert [int(record.span_id, 16) for record in assemble(spans).handoffs] == [2, 3, 1]


def test_assessments_are_no_part_of_a_handoff() -> None:
    """A span that carries an assessment is neither handoff nor stage, whatever its attributes."""
    given = {semconv.HANDOFF_NAME: "qa", semconv.VERDICT: "FAIL"}
    assessed = span(2, parent=1, name=semconv.SPAN_ASSESSMENT, attributes=given)
    below = stage(3, "vector", parent=2)
    assert [kinds(record) for record in assemble([handoff(1), assessed, below]).handoffs] == [["vector"]]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_cycles(length: int) -> None:
    """Spans that stand above each other in a circle end nowhere, and nothing hangs."""
    ring = [stage(2 + place, f"s{place}", parent=2 + (place + 1) % length) for place in range(length)]
    named = [stage(20, "in", parent=2), stage(21, "in", parent=2, given={semconv.HANDOFF_ID: f"{TRACE}-{1:016x}"})]
    found = assemble([handoff(1), *ring, *named])
    assert (found.orphan_stages, kinds(found.handoffs[0])) == (length + 1, ["in"])


def test_handoffs_in_a_circle() -> None:
    """A handoff below its own stage is still one handoff with that stage."""
    [record] = assemble([handoff(1, parent=2), stage(2, "vector", parent=1)]).handoffs
    assert [(found.kind, found.parent_id) for found in record.stages] == [("vector", None)]


def deep(count: int) -> list[Span]:
    """Return a handoff with stages each below the last, through a span of someone else's."""
    links = [span(2 * place, parent=2 * place - 1) for place in range(1, count + 1)]
    stages = [stage(2 * place + 1, "step", "a", parent=2 * place) for place in range(1, count + 1)]
    return [handoff(1, "a"), *links, *stages]


def flat(count: int) -> list[Span]:
    """Return a handoff with stages side by side, under a long chain of spans of others."""
    links = [span(2 + place, parent=1 + place) for place in range(count)]
    stages = [stage(count + 2 + place, "step", "a", parent=count + 1) for place in range(count)]
    return [handoff(1, "a"), *links, *stages]


@pytest.mark.parametrize("shape", [deep, flat])
def test_ten_thousand_stages(shape: Callable[[int], list[Span]]) -> None:
    """Ten thousand stages in one handoff are put together in time that grows with their number alone."""
    spans = shape(10_000)
    start = time.process_time()
    [record] = assemble(spans).handoffs
    assert len(record.stages) == 10_000
    assert time.process_time() - start < 5
