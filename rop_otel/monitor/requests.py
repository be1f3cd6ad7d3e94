"""Export requests as they come over the network: unpacked within limits, and read as spans that can be kept."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rop_otel.spans import Event, Span, otlp_protobuf, otlp_reader

MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
"""The largest request, packed or not: as much as the collector's own receiver takes by default for gzip and more."""


class TooLargeError(ValueError):
    """A request holds more than it may."""


def unpacked(body: bytes, encoding: str) -> bytes:
    """Return the body of a request.

    Args:
        body: As it came.
        encoding: Its ``Content-Encoding``: ``gzip``, ``deflate``, ``identity`` or empty.

    Raises:
        TooLargeError: It holds more than :data:`MAX_REQUEST_BYTES`.
        ValueError: It is damaged.
        LookupError: Nobody here knows the encoding.
    """
    if encoding in ("", "identity"):
        return body
    windows = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
    unpacker = zlib.decompressobj(windows[encoding])
    try:
        found = unpacker.decompress(body, MAX_REQUEST_BYTES + 1)
    except zlib.error:
        raise ValueError(f"not {encoding}") from None
    if len(found) > MAX_REQUEST_BYTES:
        raise TooLargeError(f"more than {MAX_REQUEST_BYTES:,} bytes")
    if not unpacker.eof:
        raise ValueError(f"{encoding} that is cut short")
    return found


def spans_in(request: bytes, *, is_json: bool) -> list[Span]:
    """Return the spans of a request, with values that every store has room for.

    Halves of surrogate pairs, which are no Unicode, are replaced.

    Raises:
        ValueError: It is no export request.
    """
    if not is_json:
        return otlp_protobuf.spans_in(request)
    return [_plain(span) for span in otlp_reader.spans_in(request)]


def _plain(span: Span) -> Span:
    """Return a span whose texts are Unicode."""
    return replace(
        span,
        trace_id=_text(span.trace_id),
        span_id=_text(span.span_id),
        parent_id=None if span.parent_id is None else _text(span.parent_id),
        name=_text(span.name),
        scope=_text(span.scope),
        service=None if span.service is None else _text(span.service),
        attributes=_mapping(span.attributes),
        events=tuple(Event(name=_text(each.name), attributes=_mapping(each.attributes)) for each in span.events),
    )


def _text(value: str) -> str:
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _mapping(attributes: Mapping[str, object]) -> dict[str, object]:
    return {_text(name): _value(value) for name, value in attributes.items()}


def _value(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_value(each) for each in value]
    return value
