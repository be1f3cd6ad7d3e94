"""The example's services with the monitor's spans and attributes, written by hand with plain OpenTelemetry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from corpus import QUESTIONS  # type: ignore[import-not-found]  # of the example, which PYTHONPATH names
from fastapi import FastAPI, Header
from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span
from services.bare import asked, by_letters, by_words, cited, fuse, labels, pack
from services.quiet import QUIET

from rop_otel import semconv

provider = TracerProvider(shutdown_on_exit=False)
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("by hand")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Export from the worker's start to its end."""
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    yield
    provider.shutdown()


retriever = FastAPI(lifespan=lifespan, telemetry=QUIET)
reader = FastAPI(lifespan=lifespan, telemetry=QUIET)


@retriever.get("/search")
def search(question: str, traceparent: Annotated[str, Header()]) -> list[str]:
    """Return the keys of passages, best first, with a span for each stage."""
    token = context.attach(propagate.extract({"traceparent": traceparent}))
    try:
        with tracer.start_as_current_span("lexical") as span:
            words = by_words(question)
            stage(span, "lexical", words)
        with tracer.start_as_current_span("vector") as span:
            letters = by_letters(question)
            stage(span, "vector", letters)
        with tracer.start_as_current_span("fusion") as span:
            found: list[str] = fuse(words, letters)
            stage(span, "fusion", found)
        return found
    finally:
        context.detach(token)


@reader.get("/answer")
def answer(question: str) -> dict[str, str | None]:
    """Answer a question, with a span for the whole and for each stage."""
    with tracer.start_as_current_span("handoff docs-qa") as handoff:
        ids = handoff.get_span_context()
        handoff_id = f"{ids.trace_id:032x}-{ids.span_id:016x}"
        handoff.set_attribute(semconv.HANDOFF_NAME, "docs-qa")
        handoff.set_attribute(semconv.HANDOFF_ID, handoff_id)
        handoff.set_attribute(semconv.SELECTED_IDS, [QUESTIONS[question]])
        with tracer.start_as_current_span("retriever") as span:
            headers: dict[str, str] = {}
            propagate.inject(headers)
            found = asked(question, headers)
            stage(span, "retriever", found, handoff_id)
            span.set_attribute(semconv.STAGE_SOURCE, True)
        with tracer.start_as_current_span("packing") as span:
            shown = pack(found)
            stage(span, "packing", shown, handoff_id)
            span.set_attribute(semconv.CONTEXT_LABELS, labels(shown))
        with tracer.start_as_current_span("reader") as span:
            cited(shown)
            stage(span, "reader", shown, handoff_id)
            span.set_attribute(semconv.ANSWER_CITATIONS, labels(shown))
    return {"verdict": None, "shown": " ".join(shown)}


def stage(span: Span, kind: str, returned: list[str], handoff_id: str | None = None) -> None:
    """Write what a stage returned."""
    span.set_attribute(semconv.STAGE, kind)
    span.set_attribute(semconv.GEN_AI_OPERATION, semconv.GEN_AI_OPERATION_RETRIEVAL)
    span.set_attribute(semconv.RETURNED_IDS, returned)
    if handoff_id is not None:
        span.set_attribute(semconv.HANDOFF_ID, handoff_id)
