"""OTLP export requests in protobuf, read as spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rop_otel import semconv
from rop_otel.spans.span import Event, Span

_ERROR: Final = 2
"""OTLP's number of the status of a span that failed."""

_DEEPEST: Final = 32
"""How many lists and mappings within each other a value may be."""


def spans_in(request: bytes) -> list[Span]:
    """Return the spans of an export request, in its order; none where it holds none.

    Args:
        request: An ``ExportTraceServiceRequest``.

    Raises:
        ValueError: It is no such request.
    """
    message = ExportTraceServiceRequest()
    try:
        message.ParseFromString(request)
    except DecodeError:
        raise ValueError("not an OTLP export request in protobuf") from None
    return list(_spans(message))


def _spans(message: Any) -> Iterator[Span]:
    for resource_spans in message.resource_spans:
        named = [
            pair.value.string_value for pair in resource_spans.resource.attributes if pair.key == semconv.SERVICE_NAME
        ]
        service = named[-1] if named else None
        for scope_spans in resource_spans.scope_spans:
            scope = scope_spans.scope.name
            for span in scope_spans.spans:
                yield _span(span, scope=scope, service=service)


def _span(span: Any, *, scope: str, service: str | None) -> Span:
    parent_id = span.parent_span_id
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=parent_id.hex() if any(parent_id) else None,
        name=span.name,
        kind=span.kind,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        failed=span.status.code == _ERROR,
        scope=scope,
        service=service,
        dropped_attributes=span.dropped_attributes_count,
        events=tuple(Event(name=event.name, attributes=_attributes(event.attributes)) for event in span.events),
        dropped_events=span.dropped_events_count,
    )


def _attributes(pairs: Iterable[Any], depth: int = 0) -> dict[str, object]:
    return {pair.key: _value(pair.value, depth) for pair in pairs}


def _value(value: Any, depth: int) -> object:
    kind = value.WhichOneof("value")
    if kind is None or depth == _DEEPEST:
        return None
    if kind == "array_value":
        return _array(value.array_value.values, depth + 1)
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, depth + 1)
    return getattr(value, kind)


def _array(values: Any, depth: int) -> list[object]:
    """Return a list; one of strings, or of numbers, without asking each value what it is."""
    kind = values[0].WhichOneof("value") if values else None
    if kind in ("string_value", "double_value"):
        found = [getattr(value, kind) for value in values]
        if all(found):  # one of another kind has "" or 0.0 there
            return found
    return [_value(value, depth) for value in values]
