"""Spans of the OpenTelemetry SDK as neutral ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.trace import StatusCode, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.spans.span import Event, Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


def from_sdk(span: ReadableSpan) -> Span:
    """Return a finished span of the SDK as a neutral one.

    Raises:
        ValueError: The span has no context: it was never started.
    """
    context = span.get_span_context()
    if context is None:
        raise ValueError(f"span {span.name!r} has no context")
    service = span.resource.attributes.get(semconv.SERVICE_NAME)
    return Span(
        trace_id=format_trace_id(context.trace_id),
        span_id=format_span_id(context.span_id),
        parent_id=None if span.parent is None else format_span_id(span.parent.span_id),
        name=span.name,
        kind=span.kind.value + 1,  # OTLP's number 0 is "unspecified"
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        attributes=dict(span.attributes or {}),
        failed=span.status.status_code is StatusCode.ERROR,
        scope=span.instrumentation_scope.name if span.instrumentation_scope else "",
        service=service if isinstance(service, str) else None,
        dropped_attributes=span.dropped_attributes,
        events=events_of(span),
        dropped_events=span.dropped_events,
    )


def events_of(span: ReadableSpan) -> tuple[Event, ...]:
    """Return the events of a span of the SDK, as they are now."""
    return tuple(Event(name=event.name, attributes=dict(event.attributes or {})) for event in span.events)
