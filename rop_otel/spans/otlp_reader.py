"""OTLP JSON files: export requests read as spans, and spans written as such requests.

One request per file (on one line or many) or one per line, as the OTLP specification encodes them: camelCase names,
IDs in hex, 64-bit integers as strings.

If a stage or handoff cannot be read, the file is refused, since a verdict would miss it. Of any other span that cannot
be read only the IDs are kept.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from rop_otel import semconv
from rop_otel.core.handoff.attributes import is_handoff, is_stage
from rop_otel.errors import InputError
from rop_otel.safety.compressed_files import MAX_LINE_BYTES, read_lines
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.files import MAX_FILE_BYTES
from rop_otel.spans import wire
from rop_otel.spans.otlp_lenient import is_ours, request_of
from rop_otel.spans.refused import SPAN_ID, TRACE_ID, Refused
from rop_otel.spans.span import Event, Span

_NO_SPAN: Final = "0" * 16
_MOST_DIGITS: Final = 400
"""Digits of the longest integer that is read as one; no field has room for more than 20."""

_DECODER: Final = msgspec.json.Decoder(wire.Request)


def read(
    file: str,
    *,
    max_bytes: int = MAX_LINE_BYTES,
    max_file_bytes: int = MAX_FILE_BYTES,
    remedy: str = "",
    digest: Digest | None = None,
) -> Iterator[Span]:
    """Read the spans of a file of export requests, a request at a time.

    Args:
        file: The file's name; plain, gzip or zstd.
        max_bytes: Longest request that is accepted.
        max_file_bytes: How much the file may hold, unpacked.
        remedy: What the user can do about a file that holds more.
        digest: Takes in the bytes as they are stored, all of them once the last span has been read.

    Yields:
        Spans in the file's order. Requests of metrics and logs hold none.

    Raises:
        InputError: The file cannot be read as OTLP JSON; the message is ``file:line: what is wrong``.
    """
    lines = read_lines(file, max_bytes=max_bytes, max_file_bytes=max_file_bytes, remedy=remedy, digest=digest)
    for number, data in _requests(file, lines, max_bytes):
        try:
            spans = list(_spans(_decode(data)))
        except json.JSONDecodeError as error:
            wrong = f"not JSON, or cut short: {error.msg} (column {error.colno})"
            raise InputError(wrong, file=file, line=number + error.lineno - 1) from None
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 (byte {error.start + 1})", file=file, line=number) from None
        except RecursionError:
            raise InputError("nested too deeply", file=file, line=number) from None
        except ValueError as error:
            raise InputError(f"not an OTLP export request: {error}", file=file, line=number) from None
        yield from spans


def spans_in(request: bytes, refused: list[Refused] | None = None) -> list[Span]:
    """Return the spans of one export request in JSON, in its order; none where it holds none.

    Args:
        request: The request.
        refused: Takes each span of ours that cannot be read; None: the whole request is refused for one.

    Raises:
        ValueError: It is no such request.
    """
    try:
        return list(_spans(_decode(request), refused))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not an OTLP export request: {error}") from None


def _requests(file: str, lines: Iterator[tuple[int, bytes]], max_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield each request with the line that it starts on."""
    written = ((number, line) for number, line in lines if not line.isspace())
    for first, (number, line) in enumerate(written):
        if first == 0 and line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
            yield number, _whole(file, number, line, lines, max_bytes)
            return
        yield number, line


def _whole(file: str, number: int, line: bytes, lines: Iterator[tuple[int, bytes]], max_bytes: int) -> bytes:
    """Return a document that goes on after its first line."""
    document = bytearray(line)
    for _, more in lines:
        document += more
        if len(document) > max_bytes:
            wrong = f"one request of more than {max_bytes:,} bytes; write one request per line"
            raise InputError(wrong, file=file, line=number)
    return bytes(document)


def _decode(data: bytes) -> wire.Request:
    try:
        request = _DECODER.decode(data)
    except msgspec.DecodeError:
        request = request_of(_document(data))
    named = (request.resource_spans, request.resource_metrics, request.resource_logs)
    if all(part is msgspec.UNSET for part in named) and msgspec.json.decode(data, type=dict[str, msgspec.Raw]):
        raise wire.WireError("it has no resourceSpans")
    return request


def _document(data: bytes) -> object:
    """Return a document that the strict parser refuses.

    The slower parser says where it is wrong. What it does accept are numbers that are none, integers of any length, and
    halves of surrogate pairs, left by writers that cut text to a length: no reason to refuse the file.
    """
    whole = data.decode().rstrip()
    if "\\u" in whole:
        whole = json.dumps(json.loads(whole, parse_int=_number), ensure_ascii=False).encode(errors="replace").decode()
    return json.loads(whole, parse_int=_number)


def _number(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def _spans(request: wire.Request, refused: list[Refused] | None = None) -> Iterator[Span]:
    for resource_spans in request.resource_spans or ():
        service = _service(resource_spans.resource)
        for scope_spans in resource_spans.scope_spans or ():
            scope = (scope_spans.scope and scope_spans.scope.name) or ""
            for part in scope_spans.spans or ():
                try:
                    yield _span_or_ids(part, scope=scope, service=service)
                except wire.WireError as error:
                    if refused is None:
                        raise
                    refused.append(_refused(part, str(error)))


def _refused(part: wire.SpanPart, reason: str) -> Refused:
    named = [pair.value for pair in part.attributes or () if pair.key == semconv.HANDOFF_ID]
    handoff_id = named[-1].string_value if named and named[-1] is not None else None
    return Refused(trace_id=_only_ids(part).trace_id, handoff_id=handoff_id or None, reason=reason)


def _service(resource: wire.Resource | None) -> str | None:
    pairs = (resource.attributes if resource else None) or ()
    named = [pair.value.string_value for pair in pairs if pair.key == semconv.SERVICE_NAME and pair.value is not None]
    return named[-1] if named else None


def _span_or_ids(part: wire.SpanPart, *, scope: str, service: str | None) -> Span:
    """Return a span; of one that is not ours and cannot be read, its IDs.

    Raises:
        WireError: One of ours cannot be read.
    """
    if isinstance(part, wire.Unreadable):
        if part.error is not None:
            raise wire.WireError(part.error)
        return _only_ids(part)
    try:
        return _span(part, wire.attributes_of, scope=scope, service=service)
    except (wire.WireError, RecursionError):
        if not is_ours(pair.key for pair in part.attributes or ()):
            return _only_ids(part)
        return _span(part, wire.attributes_as_far_as_readable, scope=scope, service=service)


def _only_ids(part: wire.SpanPart) -> Span:
    parent_id = (part.parent_span_id or "").lower()
    return Span(
        trace_id=_hex((part.trace_id or "").lower(), part.trace_id),
        span_id=_hex((part.span_id or "").lower(), part.span_id),
        parent_id=None if parent_id in ("", _NO_SPAN) else _hex(parent_id, part.parent_span_id),
        unreadable=True,
    )


def _span(
    part: wire.SpanPart,
    attributes_of: Callable[[list[wire.KeyValue] | None], dict[str, object]],
    *,
    scope: str,
    service: str | None,
) -> Span:
    attributes = attributes_of(part.attributes)
    trace_id, span_id = (part.trace_id or "").lower(), (part.span_id or "").lower()
    parent_id = (part.parent_span_id or "").lower()
    if is_stage(attributes) or is_handoff(attributes):
        # Only ours are held to it: a span in between that breaks the rule is no reason to refuse the file.
        _check_id(trace_id, TRACE_ID, "traceId must be 32 hex digits")
        _check_id(span_id, SPAN_ID, "spanId must be 16 hex digits")
    return Span(
        trace_id=_hex(trace_id, part.trace_id),
        span_id=_hex(span_id, part.span_id),
        parent_id=None if parent_id in ("", _NO_SPAN) else _hex(parent_id, part.parent_span_id),
        name=part.name or "",
        kind=part.kind if isinstance(part.kind, int) else 0,
        start_ns=wire.moment(part.start_time_unix_nano, field="startTimeUnixNano"),
        end_ns=wire.moment(part.end_time_unix_nano, field="endTimeUnixNano"),
        attributes=attributes,
        failed=part.status is not None and part.status.code in wire.STATUS_ERROR,
        scope=scope,
        service=service,
        dropped_attributes=part.dropped_attributes_count or 0,
        events=tuple(
            Event(name=event.name or "", attributes=attributes_of(event.attributes)) for event in part.events or ()
        ),
        dropped_events=part.dropped_events_count or 0,
    )


def _hex(value: str, written: str | None) -> str:
    """Return an ID that is written in base64, as protobuf's own JSON does, in hex; any other as it is."""
    if written is None or not written.endswith("="):
        return value
    try:
        return base64.b64decode(written, validate=True).hex()
    except ValueError:
        return value


def _check_id(value: str, pattern: re.Pattern[str], rule: str) -> None:
    if not pattern.fullmatch(value):
        raise wire.WireError(f"{rule}, not all zero, not {value[:40]!r}")
