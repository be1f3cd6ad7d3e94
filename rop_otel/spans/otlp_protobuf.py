"""OTLP export requests in protobuf, read as spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import unpack
from typing import Any, Final

from google.protobuf.message import DecodeError

from rop_otel import semconv
from rop_otel.spans.otlp_messages import Request, Value
from rop_otel.spans.span import Event, Span

_ERROR: Final = 2
"""OTLP's number of the status of a span that failed."""

_DEEPEST: Final = 32
"""How many lists and mappings within each other a value may be."""

_TEXT, _DOUBLE = b"\n", b"!"
"""What the bytes of a text begin with, and those of a float."""

_DOUBLE_BYTES: Final = 9


def spans_in(request: bytes) -> list[Span]:
    """Return the spans of an export request, in its order; none where it holds none.

    Args:
        request: An ``ExportTraceServiceRequest``. In a text that is no UTF-8 the bytes that are none are replaced.

    Raises:
        ValueError: It is no such request.
    """
    try:
        return list(_spans(Request.FromString(request)))
    except DecodeError:
        raise ValueError("not an OTLP export request in protobuf") from None


class _Texts(dict[bytes, str]):
    """The texts of one request by their bytes: names and IDs come again and again, and one object serves all."""

    def __missing__(self, key: bytes) -> str:
        found = self[key] = key.decode(errors="replace")
        return found


class _Items(dict[bytes, object]):
    """The items of the lists of one request by their bytes; only texts are kept."""

    def __missing__(self, key: bytes) -> object:
        if key[:1] == _TEXT and len(key) > 1 and key[1] == len(key) - 2 < 0x80:
            found = self[key] = key[2:].decode(errors="replace")
            return found
        raise LookupError


class _Reading:
    """Reads one request."""

    def __init__(self) -> None:
        self.texts = _Texts()
        self._items = _Items()

    def attributes(self, pairs: Iterable[Any], depth: int = 0) -> dict[str, object]:
        """Return attributes by name; where a name is repeated, the last one."""
        texts = self.texts
        return {texts[pair.key]: self._value(pair.value, depth) for pair in pairs}

    def _value(self, value: Any, depth: int) -> object:
        kind = value.WhichOneof("value")
        if kind is None or depth == _DEEPEST:
            return None
        if kind == "string_value":
            return self.texts[value.string_value]
        if kind == "array_value":
            return self._array(list(value.array_value.values), depth + 1)
        if kind == "kvlist_value":
            return self.attributes(value.kvlist_value.values, depth + 1)
        return getattr(value, kind)

    def _array(self, items: list[bytes], depth: int) -> list[object]:
        """Return a list; one of texts, or of floats, at once."""
        if not items or depth == _DEEPEST:
            return [None] * len(items)
        if items[0][:1] == _DOUBLE and {*map(len, items)} == {_DOUBLE_BYTES}:
            joined = b"".join(items)
            if joined[::_DOUBLE_BYTES] == _DOUBLE * len(items):
                return [*unpack("<" + "xd" * len(items), joined)]
        try:
            return [*map(self._items.__getitem__, items)]
        except LookupError:
            return [self._value(Value.FromString(item), depth) for item in items]


def _spans(message: Any) -> Iterator[Span]:
    reading = _Reading()
    for resource_spans in message.resource_spans:
        named = [
            pair.value.string_value
            for pair in resource_spans.resource.attributes
            if pair.key == semconv.SERVICE_NAME.encode()
        ]
        service = reading.texts[named[-1]] if named else None
        for scope_spans in resource_spans.scope_spans:
            scope = reading.texts[scope_spans.scope.name]
            for span in scope_spans.spans:
                yield _span(span, reading, scope=scope, service=service)


def _span(span: Any, reading: _Reading, *, scope: str, service: str | None) -> Span:
    parent_id = span.parent_span_id
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=parent_id.hex() if any(parent_id) else None,
        name=reading.texts[span.name],
        kind=span.kind,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=reading.attributes(span.attributes),
        failed=span.status.code == _ERROR,
        scope=scope,
        service=service,
        dropped_attributes=span.dropped_attributes_count,
        events=tuple(
            Event(name=reading.texts[event.name], attributes=reading.attributes(event.attributes))
            for event in span.events
        ),
        dropped_events=span.dropped_events_count,
    )
