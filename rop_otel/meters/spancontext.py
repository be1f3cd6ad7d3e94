"""An OpenTelemetry context that stands for a span which is known by its IDs alone."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags


def span_context(trace_id: str, span_id: str) -> SpanContext | None:
    """Return the context of a span; None where the IDs are none of OpenTelemetry's.

    Args:
        trace_id: 32 hex digits.
        span_id: 16 hex digits.
    """
    try:
        context = SpanContext(
            trace_id=int(trace_id, 16),
            span_id=int(span_id, 16),
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
    except ValueError:
        return None
    return context if context.is_valid else None


def context_of(trace_id: str, span_id: str) -> Context:
    """Return a context in which that span is the current one; an empty one where there is no such span."""
    span = span_context(trace_id, span_id)
    return Context() if span is None else trace.set_span_in_context(NonRecordingSpan(span), Context())
