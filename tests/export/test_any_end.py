"""Spans that end in any order, parents before their children: the processor says at once what replay says later."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.trace import Span, Tracer, set_span_in_context
from opentelemetry.util.types import AnyValue

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, DropCause, Notice, Verdict
from rop_otel.replay.handoff_report import replay
from rop_otel.spans.conventions import Rules
from rop_otel.spans.sdk import from_sdk
from rop_otel.tracing.running import runtime
from tests.export.monitored import Monitored
from tests.spans.conventions.foreign import documents, flattened

SELECTED: dict[str, AnyValue] = {semconv.SELECTED_IDS: ["b"]}
HANDOFF: dict[str, AnyValue] = {semconv.HANDOFF_NAME: "qa", **SELECTED}
CHAIN: dict[str, AnyValue] = {"openinference.span.kind": "CHAIN", **SELECTED}


def stage(*ids: str, **more: AnyValue) -> dict[str, AnyValue]:
    """Return the attributes of a stage set by hand."""
    return {semconv.STAGE: "packing", semconv.RETURNED_IDS: list(ids), **more}


def retriever(*ids: str) -> dict[str, AnyValue]:
    """Return the attributes of a retriever of OpenInference."""
    return {"openinference.span.kind": "RETRIEVER", **flattened("retrieval.documents", documents(*ids))}  # type: ignore[dict-item]


ATTRIBUTES = st.sampled_from(
    [{}, CHAIN, HANDOFF, stage("a"), stage("a", "b"), stage(), retriever("a"), retriever("b"), retriever("a", "b")]
)


PLACES = st.integers(0, 7)
STEPS = st.tuples(PLACES, ATTRIBUTES, st.lists(PLACES, max_size=2))
"""Below which open span another one starts, with which attributes, and which of the open ones then end."""


def run(tracer: Tracer, steps: list[tuple[int, dict[str, AnyValue], list[int]]]) -> None:
    """Start spans below spans that are open, as are all above those, or at the top; end them as told, and the rest."""
    running: list[tuple[Span, ...]] = []  # each with those above it
    for place, attributes, ends in steps:
        below = [(), *(each for each in running if all(above.is_recording() for above in each))]
        above: tuple[Span, ...] = below[-1 - place % len(below)]
        context = set_span_in_context(above[0], Context()) if above else Context()
        running.append((tracer.start_span("work", context, attributes=attributes), *above))
        for end in ends[: len(running)]:
            running.pop(end % len(running))[0].end()
    for span, *_ in running:
        span.end()


def shown(assessments: list[Assessment]) -> list[str]:
    """Return assessments by handoff ID, as JSON; which of several late stages ends first is known later only."""
    found = [each.as_dict() for each in sorted(assessments, key=lambda each: each.handoff_id)]
    for each in found:
        each["findings"].sort(key=json.dumps)
    return [json.dumps(each) for each in found]


def replayed(monitored: Monitored, config: Config) -> list[str]:
    """Return the assessments of the same spans read later."""
    spans = map(from_sdk, monitored.exporter.get_finished_spans())
    return shown(list(replay(spans, rules=Rules.of(config)).assessments))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300)
@given(st.lists(STEPS, min_size=2, max_size=8))
def test_live_is_replay(steps: list[tuple[int, dict[str, AnyValue], list[int]]]) -> None:
    """Whatever ends first, both doors come to the same assessments, and nothing is kept."""
    monitored = Monitored()
    run(monitored.tracer, steps)
    assert shown(monitored.heard.assessments) == replayed(monitored, monitored.runtime.config)
    assert len(monitored.open_spans) == 0


def test_a_stage_below_a_span_that_outlives_its_handoff() -> None:
    """A stage that ended in time counts, though the span between it and the handoff goes on."""
    monitored = Monitored()
    top = monitored.tracer.start_span("qa", attributes=HANDOFF)
    link = monitored.tracer.start_span("http", set_span_in_context(top, Context()))
    monitored.tracer.start_span("pack", set_span_in_context(link, Context()), attributes=stage("b")).end()
    top.end()
    link.end()
    assert monitored.assessment.verdict is Verdict.PASS
    assert not monitored.heard.notices
    assert shown(monitored.heard.assessments) == replayed(monitored, monitored.runtime.config)


def test_a_stage_below_a_span_that_outlives_our_handoff() -> None:
    """The same in a handoff of our own API."""
    monitored = Monitored()
    before = runtime.install(monitored.runtime)
    try:
        with rop.handoff("qa", selected="b") as handoff:
            link = monitored.tracer.start_span("http")
            monitored.tracer.start_span("pack", set_span_in_context(link), attributes=stage("a")).end()
        link.end()
    finally:
        runtime.install(before)
    assert handoff.assessment.drop_cause == DropCause.NEVER_RETRIEVED
    assert [each.stage for each in handoff.assessment.stages] == ["packing"]
    assert not monitored.heard.notices
    assert shown(monitored.heard.assessments) == replayed(monitored, monitored.runtime.config)


def test_a_handoff_that_says_so_late_takes_its_stages_from_ours() -> None:
    """A stage that our handoff knows of is not its own once a span between them turns out to be a handoff."""
    monitored = Monitored()
    before = runtime.install(monitored.runtime)
    try:
        with rop.handoff("ours"):
            inner = monitored.tracer.start_span("inner")
            slow = monitored.tracer.start_span("pack", set_span_in_context(inner), attributes=stage("b"))
            inner.set_attributes(HANDOFF)
            inner.end()
        slow.end()
    finally:
        runtime.install(before)
    assert {record.name: len(record.stages) for record in monitored.heard.records} == {"qa": 1, "ours": 0}
    assert monitored.heard.notices == {(Notice.LATE, ""): 1}
    assert shown(monitored.heard.assessments) == replayed(monitored, monitored.runtime.config)


def test_a_span_given_up_between_a_stage_and_its_handoff() -> None:
    """A span that nobody ends keeps no stage below it from the handoff above."""
    monitored = Monitored()
    top = monitored.tracer.start_span("qa", attributes=HANDOFF)
    link = monitored.tracer.start_span("http", set_span_in_context(top, Context()))
    monitored.tracer.start_span("pack", set_span_in_context(link, Context()), attributes=stage("b")).end()
    del link
    top.end()
    assert monitored.assessment.verdict is Verdict.PASS
    assert len(monitored.open_spans) == 0
