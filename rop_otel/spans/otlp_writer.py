"""Spans written as OTLP JSON, one export request a line."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from rop_otel import semconv
from rop_otel.spans import wire
from rop_otel.spans.span import Span


def write(spans: Iterable[Span], stream: BinaryIO) -> None:
    """Write spans as one export request on one line; nothing where there are none.

    Args:
        spans: Any; those of one service and scope are put together in their order.
        stream: Takes the bytes.
    """
    request = request_of(spans)
    if request["resourceSpans"]:
        # A lone half of a surrogate pair has no UTF-8 form.
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        stream.write(text.encode(errors="replace") + b"\n")


def request_of(spans: Iterable[Span]) -> dict[str, Any]:
    """Return spans as an export request, in the form of OTLP JSON.

    Args:
        spans: Any; those of one service and scope are put together in their order.
    """
    groups: dict[tuple[str | None, str], list[Any]] = {}
    for span in spans:
        groups.setdefault((span.service, span.scope), []).append(_span(span))
    return {"resourceSpans": [_resource_spans(service, scope, found) for (service, scope), found in groups.items()]}


def _resource_spans(service: str | None, scope: str, spans: list[Any]) -> dict[str, Any]:
    resource = {} if service is None else {"attributes": _attributes({semconv.SERVICE_NAME: service})}
    return {"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": spans}]}


def _span(span: Span) -> dict[str, Any]:
    written = {**span_fields(span), "attributes": _attributes(span.attributes)}
    if span.dropped_attributes:
        written["droppedAttributesCount"] = span.dropped_attributes
    if span.events:
        written["events"] = [{"name": each.name, "attributes": _attributes(each.attributes)} for each in span.events]
    if span.dropped_events:
        written["droppedEventsCount"] = span.dropped_events
    return written


def span_fields(span: Span) -> dict[str, Any]:
    """Return what a span is in OTLP JSON beside its attributes, its events and what it lost to limits."""
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **({} if span.parent_id is None else {"parentSpanId": span.parent_id}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "status": {"code": wire.STATUS_ERROR[0]} if span.failed else {},
    }


def _attributes(attributes: Mapping[str, object]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else _NOT_FINITE.get(value, "NaN")}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _attributes(value)}}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    return {}


_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}
