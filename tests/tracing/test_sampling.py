from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, TraceIdRatioBased
from opentelemetry.trace import NonRecordingSpan, NoOpTracer, SpanContext, TraceFlags, Tracer

import rop_otel as rop
from rop_otel import semconv
from tests.tracing.watched import Hit, Watched, hits

Watch = Callable[..., Watched]


@rop.stage("retrieval", source=True)
def retrieve() -> list[Hit]:
    return vector()


@rop.stage("vector")
def vector() -> list[Hit]:
    return hits("a", "b")


def run() -> rop.Handoff:
    with rop.handoff("qa", selected="b", judged=["a"]) as handoff:
        found = retrieve()
        with rop.using_stage("packing", input=found) as stage:
            stage.returned(found[:1], labels=["S1"])
        handoff.answered("It waits [S1].", sources=found[:1])
    return handoff


def facts(watched: Watched) -> list[tuple[object, ...]]:
    return [(stage.kind, stage.returned, stage.scores, stage.input, stage.labels) for stage in watched.stages()]


@pytest.mark.parametrize("sampler", [ALWAYS_OFF, TraceIdRatioBased(0)])
def test_trace_that_sampling_leaves_out_is_assessed(sampler: object, watch: Watch) -> None:
    """Sampling decides about spans; the assessment is the same, and is counted."""
    everything = watch()
    expected = run().assessment.as_dict()
    sampled_out = watch(sampler=sampler)
    found = run().assessment.as_dict()
    assert sampled_out.spans == []
    assert facts(sampled_out) == facts(everything)
    for different in ("handoff_id", "trace_id"):
        del expected[different], found[different]
    assert found == expected
    assert len(sampled_out.heard.assessments) == 1


def outside() -> Tracer:
    return NoOpTracer()


def test_without_an_sdk_handoffs_are_assessed(watch: Watch) -> None:
    """Without an SDK all span IDs are zero; ours are minted, stages are told apart, and their parents are known."""
    watched = watch(tracer=outside())
    first, second = run(), run()
    assert first.assessment.drop_cause == "over_budget"
    assert first.id != second.id
    assert first.trace_id == ""
    stages = watched.stages()
    assert len({stage.span_id for stage in stages}) == len(stages) == 4
    assert watched.stage("vector").parent_id == watched.stage("retrieval").span_id


def test_without_an_sdk_below_a_remote_span_stages_are_told_apart(watch: Watch) -> None:
    """A tracer that hands out the parent's span again does not merge all stages into one."""
    watched = watch(tracer=outside())
    parent = SpanContext(trace_id=7, span_id=9, is_remote=True, trace_flags=TraceFlags(1))
    with trace.use_span(NonRecordingSpan(parent)):
        handed_out = outside().start_span("any").get_span_context()  # the lowest version of the API hands out none
        first, second = run(), run()
    assert first.id != second.id
    assert first.trace_id == (f"{7:032x}" if handed_out.is_valid else "")
    assert first.assessment.drop_cause == "over_budget"
    assert len({stage.span_id for stage in watched.stages()}) == 4


def test_limit_on_values_cuts_ids_on_spans_only(watch: Watch) -> None:
    """Where a tracer provider cuts values, a list on its spans ends before a longer ID; the ledger has it whole."""
    watched = watch(limits=SpanLimits(max_attribute_length=3))
    with rop.handoff("qa", selected="long-id") as handoff, rop.using_stage("packing") as stage:
        stage.returned(["long-id", "long-other"])
    assert handoff.assessment.selected_rank == 1
    assert watched.attributes("packing")[semconv.RETURNED_IDS] == ()
    assert watched.attributes("packing")[semconv.RETURNED_COUNT] == 2


class Broken(SpanProcessor):
    """Raises wherever it can."""

    def on_start(self, span: SdkSpan, parent_context: object = None) -> None:
        raise RuntimeError("processor")

    def on_end(self, span: object) -> None:
        raise RuntimeError("processor")


def test_span_processor_that_raises_is_kept_from_the_application(watched: Watched) -> None:
    """A broken processor of somebody else costs spans, and neither the answer nor the assessment."""
    watched.provider.add_span_processor(Broken())
    handoff = run()
    assert handoff.assessment.drop_cause == "over_budget"
    assert watched.errors("handoff") > 0
    assert watched.errors("stage") > 0
