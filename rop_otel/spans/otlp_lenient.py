"""Export requests with spans that break OTLP's types: all other spans are read, and the readable part of these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rop_otel.core.handoff.attributes import is_handoff, is_stage
from rop_otel.spans import wire


def request_of(document: object) -> wire.Request:
    """Return an export request.

    A span of others that cannot be read is an ``Unreadable`` one. In a span of ours an attribute whose value
    cannot be read stands as one of a type that no attribute of ours has; where something else of it cannot be read,
    it is an ``Unreadable`` one with an error.

    Args:
        document: As JSON gives it; it is taken apart.

    Raises:
        ValueError: It is no export request.
    """
    if isinstance(document, dict):
        document = {"resourceSpans": document.get("resourceSpans")}
    taken = [_take_spans(part) for part in _scopes(document)]
    request = msgspec.convert(document, wire.Request)
    scopes = (scope for resource in request.resource_spans or () for scope in resource.scope_spans or ())
    for scope, spans in zip(scopes, taken, strict=True):
        scope.spans = spans
    return request


def is_ours(names: Iterator[object]) -> bool:
    """Return whether a span with attributes of these names is a stage or a handoff."""
    named = dict.fromkeys(name for name in names if isinstance(name, str))
    return is_stage(named) or is_handoff(named)


def _scopes(document: Any) -> Iterator[dict[str, Any]]:
    """Yield what stands for the spans of one scope, in order; what describes it, or its resource, may be missing."""
    for resource_spans in _list(document, "resourceSpans"):
        _drop_unless(resource_spans, "resource", wire.Resource)
        for scope_spans in _list(resource_spans, "scopeSpans"):
            _drop_unless(scope_spans, "scope", wire.Scope)
            if isinstance(scope_spans, dict):
                yield scope_spans


def _list(document: Any, name: str) -> list[Any]:
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, list) else []


def _drop_unless(document: Any, name: str, kind: type[wire.Part]) -> None:
    if isinstance(document, dict) and _converted(document.get(name), kind) is None:
        document[name] = None


def _take_spans(scope_spans: dict[str, Any]) -> list[wire.SpanPart] | None:
    spans = scope_spans.get("spans")
    if not isinstance(spans, list):
        return None  # which the conversion of the rest accepts or refuses
    scope_spans["spans"] = None
    return [_span(each) for each in spans]


def _span(document: Any) -> wire.SpanPart:
    found = _converted(document, wire.SpanPart)
    if found is not None:
        return found
    pairs = [pair for pair in _list(document, "attributes") if isinstance(pair, dict)]
    if not is_ours(pair.get("key") for pair in pairs):
        return _only_ids(document if isinstance(document, dict) else {})
    rest = {name: part for name, part in document.items() if name not in ("attributes", "events")}
    try:
        ours = msgspec.convert(rest, wire.SpanPart)
    except msgspec.ValidationError as error:
        ours = _only_ids(document)
        ours.error = str(error)
    ours.attributes = [_pair(pair) for pair in pairs]
    return ours


def _only_ids(document: dict[str, Any]) -> wire.Unreadable:
    ids = (document.get(name) for name in ("traceId", "spanId", "parentSpanId"))
    trace_id, span_id, parent_id = (each if isinstance(each, str) else None for each in ids)
    return wire.Unreadable(trace_id=trace_id, span_id=span_id, parent_span_id=parent_id)


def _pair(document: dict[str, Any]) -> wire.KeyValue:
    key, value = document.get("key"), document.get("value")
    found = _converted(value, wire.Value)
    unreadable = value is not None and found is None
    return wire.KeyValue(
        key=key if isinstance(key, str) else "", value=wire.Value(bytes_value="") if unreadable else found
    )


def _converted(document: Any, kind: type[wire.PartT]) -> wire.PartT | None:
    try:
        return msgspec.convert(document, kind)
    except (msgspec.ValidationError, RecursionError):
        return None
