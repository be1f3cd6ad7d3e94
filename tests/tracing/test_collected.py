"""What the garbage collector closes, or runs, in the middle of anything."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach, get_current
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

import rop_otel as rop
from rop_otel.core.handoff import Notice
from rop_otel.safety import is_collecting
from tests.tracing.watched import Watched, retrieve


@pytest.fixture(autouse=True)
def _outside() -> Iterator[None]:
    """Leave the context as it was: what is left shows only when the monitor is next used."""
    before = get_current()
    yield
    attach(before)


class Finalized:
    """Does something when it is collected, and keeps itself until then."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._itself = self

    def __del__(self) -> None:
        self._do()


class Ends(SpanProcessor):
    """Notes whether a span ended in a finalizer."""

    def __init__(self) -> None:
        self.in_finalizers: list[bool] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Note it."""
        self.in_finalizers.append(is_collecting())


def holding() -> Iterator[str]:
    with rop.handoff("held", selected="a"), rop.using_round(1), rop.using_stage("vector") as stage:
        stage.returned(["a"])
        yield "a"


def left_in_a_cycle(*generators: Any) -> None:
    """Take a step of each, and leave them to the collector."""
    for each in generators:
        next(each)
    kept = list(generators)
    kept.append(kept)


def test_a_handoff_whose_generator_was_collected_is_left(watched: Watched) -> None:
    """After the collection, stages and handoffs of the consumer are outside of it, and it is assessed."""
    left_in_a_cycle(holding())
    gc.collect()
    with rop.using_stage("lexical") as stage:
        stage.returned(["b"])
    with rop.handoff("next"):
        retrieve("b")
    spans = {span.name: span for span in watched.spans}
    assert spans["handoff next"].parent is None
    assert spans["lexical"].parent is None
    assert [assessment.handoff_name for assessment in watched.heard.assessments] == ["held", "next"]
    assert watched.heard.records[0].stages[0].returned == ("a",)
    assert (rop.current_handoff().id, trace.get_current_span().is_recording()) == ("", False)


@pytest.mark.parametrize("count", [2, 5])
def test_several_generators_in_one_another(watched: Watched, count: int) -> None:
    """Each holds a handoff that began inside of the one before; all are left."""
    left_in_a_cycle(*(holding() for _ in range(count)))
    gc.collect()
    assert rop.current_handoff().id == ""
    assert watched.runtime.ledger.open_count() == 0
    assert len(watched.heard.assessments) == count


def test_what_the_application_attached_since_is_kept(watched: Watched) -> None:
    """Of the context only what the left block had made of it is taken back."""
    pieces = holding()
    next(pieces)
    token = attach(baggage.set_baggage("user", "1"))
    kept: list[object] = [pieces]
    kept.append(kept)
    del pieces, kept
    gc.collect()
    with rop.handoff("next") as handoff:
        assert baggage.get_baggage("user") == "1"
        assert rop.current_handoff() is handoff
    assert baggage.get_baggage("user") == "1"
    detach(token)
    assert rop.current_handoff().id == ""


def test_finalizers_stay_apart_from_what_they_interrupt(watched: Watched) -> None:
    """A stage in a finalizer joins no handoff of the code that the collector interrupts, whose context stays."""
    contexts: list[object] = []

    def clean() -> None:
        with rop.using_stage("lexical") as stage:
            contexts.append(get_current())
            stage.returned(["late"])
        with rop.handoff("cleaning") as handoff:
            contexts.append(get_current())
            retrieve("c")
        assert handoff.assessment.verdict is None

    with rop.handoff("interrupted", selected="a"):
        before = get_current()
        Finalized(clean)
        gc.collect()
        assert contexts == [before, before]
        retrieve("a", packed=("a",))
    by_name = {record.name: record for record in watched.heard.records}
    assert [stage.kind for stage in by_name["interrupted"].stages] == ["vector", "packing"]
    assert [stage.kind for stage in by_name["cleaning"].stages] == ["vector", "packing"]


def test_no_span_ends_in_a_finalizer(watched: Watched) -> None:
    """Processors and exporters, which may lock, write and attach, are called when the monitor is next used."""
    ends = Ends()
    watched.provider.add_span_processor(ends)

    @rop.stage("vector")
    def search() -> Iterator[str]:
        yield "a"
        yield "b"

    left_in_a_cycle(search(), holding())
    gc.collect()
    assert ends.in_finalizers == []
    rop.current_handoff()
    assert ends.in_finalizers == [False] * 3


def test_a_handoff_in_a_cycle_is_forgotten(watched: Watched) -> None:
    """One that nobody can close counts as expired, and is open no more."""
    handoff = rop.start_handoff("forgotten")
    kept: list[object] = [handoff]
    kept.append(kept)
    del handoff, kept
    gc.collect()
    assert watched.runtime.ledger.open_count() == 0
    assert watched.heard.notices[Notice.EXPIRED, ""] == 1


def test_handoffs_that_overlap_are_both_left(watched: Watched) -> None:
    """Blocks that are entered and left in the same order leave nothing current."""
    first, second = rop.handoff("first"), rop.handoff("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert rop.current_handoff() is second
    second.__exit__(None, None, None)
    assert rop.current_handoff().id == ""
