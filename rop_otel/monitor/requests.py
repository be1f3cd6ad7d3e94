"""Export requests as they come over the network: unpacked within limits, and read as spans that can be kept."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rop_otel.core.handoff.attributes import is_handoff, is_stage, named_handoff_id
from rop_otel.spans import Event, Span, otlp_protobuf, otlp_reader
from rop_otel.spans.refused import SPAN_ID, TRACE_ID, Refused

MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
"""The largest request, packed or not: as much as the collector's own receiver takes by default for gzip and more."""

LATEST_NS: Final = 2**63 - 1
"""The latest time that OTLP JSON has room for, and a store."""


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


class Received(NamedTuple):
    """What a request holds.

    Args:
        spans: Those that can be taken in, with values that every store has room for.
        refused: The others.
    """

    spans: list[Span]
    refused: list[Refused]


def received(request: bytes, *, is_json: bool) -> Received:
    """Read a request. One rule for all doors says which of its spans can be taken in.

    Its trace and span ID are hex digits, 32 and 16, not all zero; so is its parent's ID, where it has one; its times
    are before the year 2262. Of a span of others with other times only the IDs count. Halves of surrogate pairs, which
    are no Unicode, are replaced.

    Raises:
        ValueError: It is no export request.
    """
    refused: list[Refused] = []
    if is_json:
        spans = [_plain(span) for span in otlp_reader.spans_in(request, refused)]
    else:
        spans = [_timely(span) for span in otlp_protobuf.spans_in(request)]
    return _checked(spans, refused)


def received_here(spans: Iterable[Span]) -> Received:
    """Take in spans of this process by the same rule; there may be none."""
    return _checked([_plain(span) for span in spans], [])


def _checked(spans: list[Span], refused: list[Refused]) -> Received:
    for span in spans:
        reason = _wrong(span)
        if reason is not None:
            named = named_handoff_id(span.attributes)
            refused.append(Refused(trace_id=span.trace_id, handoff_id=named, reason=reason))
    return Received([span for span in spans if _wrong(span) is None] if refused else spans, refused)


def _timely(span: Span) -> Span:
    """Return a span; of one of others with a time that nobody can show, its IDs, as of one in JSON."""
    if max(span.start_ns, span.end_ns) <= LATEST_NS or is_stage(span.attributes) or is_handoff(span.attributes):
        return span
    return Span(trace_id=span.trace_id, span_id=span.span_id, parent_id=span.parent_id, unreadable=True)


def _wrong(span: Span) -> str | None:
    """Return why a span cannot be taken in; None where it can."""
    if not TRACE_ID.fullmatch(span.trace_id):
        return "a trace ID must be 16 bytes, not all zero"
    if not SPAN_ID.fullmatch(span.span_id):
        return "a span ID must be 8 bytes, not all zero"
    if span.parent_id is not None and not SPAN_ID.fullmatch(span.parent_id):
        return "the ID of a parent must be 8 bytes"
    if max(span.start_ns, span.end_ns) > LATEST_NS:
        return "a time must be before the year 2262"
    return None


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
