"""Neutral spans as export requests in protobuf."""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from rop_otel import semconv
from rop_otel.spans import Span


def request_of(spans: Iterable[Span]) -> ExportTraceServiceRequest:
    """Return spans as one request."""
    request = ExportTraceServiceRequest()
    for span in spans:
        resource = request.resource_spans.add()
        if span.service is not None:
            pair = resource.resource.attributes.add()
            pair.key, pair.value.string_value = semconv.SERVICE_NAME, span.service
        scope = resource.scope_spans.add()
        scope.scope.name = span.scope
        made = scope.spans.add()
        made.trace_id, made.span_id = bytes.fromhex(span.trace_id), bytes.fromhex(span.span_id)
        made.parent_span_id = bytes.fromhex(span.parent_id or "")
        made.name, made.kind = span.name, span.kind
        made.start_time_unix_nano, made.end_time_unix_nano = span.start_ns, span.end_ns
        made.status.code = 2 if span.failed else 0
        made.dropped_attributes_count, made.dropped_events_count = span.dropped_attributes, span.dropped_events
        for name, value in span.attributes.items():
            pair = made.attributes.add()
            pair.key = name
            put(pair.value, value)
        for event in span.events:
            written = made.events.add()
            written.name = event.name
            for name, value in event.attributes.items():
                pair = written.attributes.add()
                pair.key = name
                put(pair.value, value)
    return request


def put(into: AnyValue, value: object) -> None:
    """Write a value."""
    if isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, str):
        into.string_value = value
    elif isinstance(value, int):
        into.int_value = value
    elif isinstance(value, float):
        into.double_value = value
    elif isinstance(value, bytes):
        into.bytes_value = value
    elif isinstance(value, list):
        into.array_value.SetInParent()
        for each in value:
            put(into.array_value.values.add(), each)
    elif isinstance(value, dict):
        into.kvlist_value.SetInParent()
        for name, each in value.items():
            pair = into.kvlist_value.values.add()
            pair.key = name
            put(pair.value, each)
