"""The workload of :mod:`workload`, instrumented in four ways: by the monitor, by hand, flattened, and not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import Sampler
from opentelemetry.trace import Tracer
from opentelemetry.trace import TracerProvider as AnyProvider
from workload import CUTOFF, JUDGED, SELECTED, Hit, Step

import rop_otel as rop
from rop_otel import semconv
from rop_otel.meters.tally import Tally
from rop_otel.tracing.running import runtime

Run = Callable[[], None]


def provider(
    exporter: SpanExporter, *, sampler: Sampler | None = None, attributes: int | None = None, length: int | None = None
) -> TracerProvider:
    """Return a tracer provider of its own, without the time that a background thread would add to a round."""
    limits = SpanLimits(max_span_attributes=attributes, max_span_attribute_length=length)
    made = TracerProvider(sampler=sampler, span_limits=limits)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def monitored(steps: Sequence[Step], provider: AnyProvider, *, enabled: bool = True) -> Run:
    """Return the workload under the whole monitor: decorators, ledger, assessment, tally, span processor.

    Args:
        steps: The stages.
        provider: Makes the spans.
        enabled: False: the monitor is configured off.
    """
    config = rop.configure(enabled=enabled, tracer_provider=provider).config
    installed = runtime.Runtime(config, tracer=provider.get_tracer(semconv.SCOPE_NAME), sinks=(Tally(),))
    stages = [_decorated(step) for step in steps]

    def run() -> None:
        runtime.install(installed)
        with rop.handoff("docs-qa", cutoff=CUTOFF, judged=JUDGED) as handoff:
            handoff.select(SELECTED)
            for stage, step in zip(stages, steps, strict=True):
                stage(step.handed)

    return run


def _decorated(step: Step) -> Callable[[list[Hit] | None], list[Hit]]:
    def retrieve(question: list[Hit] | None) -> list[Hit]:
        return step.returned

    def work(hits: list[Hit] | None) -> list[Hit]:
        return step.returned

    if step.handed is None:
        return rop.stage(step.kind)(retrieve)
    return rop.stage(step.kind, input_arg="hits")(work)


def by_hand(steps: Sequence[Step], tracer: Tracer) -> Run:
    """Return the workload with the same spans and attributes, written by hand with plain OpenTelemetry."""

    def run() -> None:
        with tracer.start_as_current_span("handoff docs-qa") as handoff:
            context = handoff.get_span_context()
            handoff_id = f"{context.trace_id:032x}-{context.span_id:016x}"
            handoff.set_attribute(semconv.HANDOFF_NAME, "docs-qa")
            handoff.set_attribute(semconv.HANDOFF_ID, handoff_id)
            handoff.set_attribute(semconv.CUTOFF, CUTOFF)
            handoff.set_attribute(semconv.SELECTED_IDS, [SELECTED])
            handoff.set_attribute(semconv.JUDGED_IDS, JUDGED)
            for step in steps:
                with tracer.start_as_current_span(step.kind) as span:
                    returned = step.returned
                    span.set_attribute(semconv.STAGE, step.kind)
                    span.set_attribute(semconv.HANDOFF_ID, handoff_id)
                    span.set_attribute(semconv.GEN_AI_OPERATION, semconv.GEN_AI_OPERATION_RETRIEVAL)
                    span.set_attribute(semconv.RETURNED_IDS, [str(hit.id) for hit in returned])
                    span.set_attribute(semconv.RETURNED_SCORES, [float(hit.score) for hit in returned])
                    if step.handed is not None:
                        span.set_attribute(semconv.INPUT_IDS, [str(hit.id) for hit in step.handed])

    return run


def flattened(steps: Sequence[Step], tracer: Tracer) -> Run:
    """Return the workload with its documents flattened as OpenInference does, an attribute for each ID and score."""

    def run() -> None:
        with tracer.start_as_current_span("docs-qa") as chain:
            chain.set_attribute("openinference.span.kind", "CHAIN")
            for step in steps:
                with tracer.start_as_current_span(step.kind) as span:
                    span.set_attribute("openinference.span.kind", "RETRIEVER" if step.handed is None else "RERANKER")
                    returned = "retrieval.documents" if step.handed is None else "reranker.output_documents"
                    for place, hit in enumerate(step.returned):
                        span.set_attribute(f"{returned}.{place}.document.id", str(hit.id))
                        span.set_attribute(f"{returned}.{place}.document.score", float(hit.score))
                    for place, hit in enumerate(step.handed or ()):
                        span.set_attribute(f"reranker.input_documents.{place}.document.id", str(hit.id))

    return run
