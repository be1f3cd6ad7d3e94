"""Spans that arrive in any order, late, twice or never, and spans that are waited for no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.assembling import Assembled, Assembler, Node, assemble, read
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules
from tests.spans.conventions.foreign import chain, retriever
from tests.spans.trace import TRACE, handoff, span, stage

NUMBERS = st.integers(1, 9)
KINDS: st.SearchStrategy[Callable[..., Span]] = st.sampled_from(
    [
        span,
        chain,
        partial(handoff, given={semconv.HANDOFF_ID: "h1"}),
        handoff,
        partial(stage, kind="vector", given={semconv.HANDOFF_ID: "h1"}),
        partial(stage, kind="vector"),
        retriever,
    ]
)


@st.composite
def traces(draw: st.DrawFn) -> list[Span]:
    """Return spans of any kind, each below any other, circles and missing parents among them."""
    numbers = draw(st.lists(NUMBERS, max_size=9, unique=True))
    return [draw(KINDS)(number, parent=draw(st.none() | NUMBERS)) for number in numbers]


def same(found: Assembled) -> Assembled:
    """Return it with the stages of each handoff in an order of their own: they are in none."""
    return replace(
        found,
        handoffs=tuple(
            replace(each, stages=tuple(sorted(each.stages, key=lambda stage: stage.span_id))) for each in found.handoffs
        ),
    )


@given(st.data(), traces())
def test_any_order_and_any_pause(data: st.DataObject, spans: list[Span]) -> None:
    """What spans amount to does not depend on their order, nor on what was asked for when only some had arrived."""
    expected = same(assemble(spans))
    assembler = Assembler()
    for each in data.draw(st.permutations(spans)):
        assembler.received(each)
        if data.draw(st.booleans()):
            assembler.assembled()
    assert same(assembler.assembled()) == expected


def test_a_late_stage_updates_its_handoff() -> None:
    """A stage that arrives after its handoff was assembled is in it when that is done again."""
    assembler = Assembler()
    for each in (stage(3, "vector", "a", parent=2), handoff(1, "a")):
        assembler.received(each)
    assert [found.stages for found in assembler.assembled().handoffs] == [()]
    assert assembler.assembled().orphan_stages == 1
    assembler.received(span(2, parent=1))
    found = assembler.assembled()
    assert ([each.kind for each in found.handoffs[0].stages], found.orphan_stages) == (["vector"], 0)


def test_a_late_handoff_says_what_is_none() -> None:
    """A span taken for a handoff is none any more once a handoff that says so arrives below it."""
    assembler = Assembler()
    for each in (chain(1), retriever(4, "a", parent=1)):
        assembler.received(each)
    assert [found.name for found in assembler.assembled().handoffs] == ["chain"]
    assembler.received(handoff(2, "a", parent=1))
    assert [found.name for found in assembler.assembled().handoffs] == ["qa"]


def test_what_expires_is_forgotten() -> None:
    """A trace that is waited for no more leaves nothing, and nothing of another one changes."""
    assembler = Assembler()
    for trace in (TRACE, "cd" * 16):
        top = assembler.received(handoff(1, "a", trace=trace))
        assembler.received(span(2, parent=1, trace=trace))
        assembler.received(stage(3, "vector", parent=2, trace=trace))
    before = assembler.assembled().handoffs
    assembler.expired(top)
    assert (assembler.assembled().handoffs, len(assembler)) == (before[:1], 3)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_handoff_in_a_circle(order: tuple[int, ...]) -> None:
    """Of spans above each other in a circle the handoff is the topmost."""
    spans = [handoff(3, "a", parent=1), stage(1, "vector", parent=2), span(2, parent=3)]
    [record] = assemble(spans[place] for place in order).handoffs
    assert [(found.kind, found.parent_id) for found in record.stages] == [("vector", None)]


def test_a_span_that_runs_and_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages wait for the span above them to end, as many as there is room for, and then nothing is kept."""
    monkeypatch.setattr("rop_otel.assembling.assembler._MAX_WAITING", 2)
    assembler = Assembler()
    top = running(assembler, handoff(1, "a"))
    for number in range(2, 6):
        below = running(assembler, stage(number, "vector", "a", parent=1), top)
        assert end(assembler, below) is None
    assert len(assembler) == 3
    assert end(assembler, top) == [f"{5:016x}", f"{4:016x}"]
    assert len(assembler) == 0


def running(assembler: Assembler, made: Span, above: Node | None = None) -> Node:
    """Return the place of a span that has started."""
    node = Node((made.trace_id, made.span_id))
    node.found = read(made, Rules())
    assert assembler.started(node, above)
    assert not assembler.started(node, above)
    return node


def end(assembler: Assembler, node: Node) -> list[str] | None:
    """End a span, and return the IDs of the stages that need wait no more."""
    node.ended = True
    stages = assembler.ended(node, lambda _: None, seconds=60)
    return None if stages is None else [each.reading.span_id for each in stages]
