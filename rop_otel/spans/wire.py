"""OTLP JSON as types: what is decoded of an export request, and its values as plain Python.

Only the fields used here are named; everything else is skipped without being decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final, TypeVar

import msgspec

STATUS_ERROR: Final = (2, "STATUS_CODE_ERROR")
"""The status code of a failed span, as the specification writes it and as protobuf's own JSON does."""

UNREADABLE: Final = b""
"""Stands for an attribute of ours whose value cannot be read; no attribute of ours is bytes, so the checks say so."""

_INTEGER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_LARGEST: Final = 2**63


class WireError(ValueError):
    """A field whose value OTLP does not allow; the message says which."""


class Part(msgspec.Struct, rename="camel", gc=False):
    """A part of a request, of which only the fields used here are decoded."""


PartT = TypeVar("PartT", bound=Part)


class Value(Part):
    """One of OTLP's kinds of value; more than one set is no valid value, and the first here counts."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | float | str | None = None
    double_value: float | str | None = None
    array_value: Values | None = None
    kvlist_value: KeyValues | None = None
    bytes_value: str | None = None


class Values(Part):
    """Items of an array."""

    values: list[Value | None] | None = None


class KeyValue(Part):
    """One attribute."""

    key: str = ""
    value: Value | None = None


class KeyValues(Part):
    """Attributes, or the entries of a map."""

    values: list[KeyValue] | None = None


class Status(Part):
    """A span's status."""

    code: int | str | None = None


class EventPart(Part):
    """An event of a span as it is written."""

    name: str | None = None
    attributes: list[KeyValue] | None = None


class SpanPart(Part):
    """A span as it is written."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: int | None = None
    events: list[EventPart] | None = None
    dropped_events_count: int | None = None
    status: Status | None = None


class Unreadable(SpanPart):
    """A span of which only the IDs can be read; with an error where it is one of ours."""

    error: str | None = None


class Scope(Part):
    """An instrumentation scope."""

    name: str | None = None


class ScopeSpans(Part):
    """The spans of one scope."""

    scope: Scope | None = None
    spans: list[SpanPart] | None = None


class Resource(Part):
    """The origin of the spans."""

    attributes: list[KeyValue] | None = None


class ResourceSpans(Part):
    """The spans of one resource."""

    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None


class Request(Part):
    """An export request: of spans, or of the other signals that a file may hold beside them."""

    resource_spans: list[ResourceSpans] | msgspec.UnsetType | None = msgspec.UNSET
    resource_metrics: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    resource_logs: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def attributes_of(pairs: list[KeyValue] | None) -> dict[str, object]:
    """Return attributes by name; where a name is repeated, the last one.

    Raises:
        WireError: A value that cannot be read as its type.
    """
    return {pair.key: value_of(pair.value) for pair in pairs or ()}


def attributes_as_far_as_readable(pairs: list[KeyValue] | None) -> dict[str, object]:
    """Return the same, with :data:`UNREADABLE` for a value that cannot be read as its type."""
    return {pair.key: _value_or_unreadable(pair.value) for pair in pairs or ()}


def _value_or_unreadable(value: Value | None) -> object:
    try:
        return value_of(value)
    except (WireError, RecursionError):
        return UNREADABLE


def value_of(value: Value | None) -> object:
    """Return one value as plain Python; None for an empty one and for types unknown here.

    Raises:
        WireError: It cannot be read as its type.
    """
    if value is None:
        return None
    if value.string_value is not None:
        return value.string_value
    if value.array_value is not None:
        return [_item(item) for item in value.array_value.values or ()]
    if value.int_value is not None:
        return integer(value.int_value, field="intValue")
    if value.double_value is not None:
        return _double(value.double_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.kvlist_value is not None:
        return attributes_of(value.kvlist_value.values)
    return None if value.bytes_value is None else _bytes(value.bytes_value)


def _item(item: Value | None) -> object:
    # Nearly every item of a list of IDs ends here.
    return item.string_value if item is not None and item.string_value is not None else value_of(item)


def integer(value: float | str, *, field: str) -> int:
    """Return a 64-bit integer, written as a number or as a string.

    Raises:
        WireError: It is none.
    """
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
        return value
    raise WireError(f"{field} must be a 64-bit integer, not {str(value)[:40]!r}")


def moment(value: float | str | None, *, field: str) -> int:
    """Return Unix nanoseconds, 0 where they are not given.

    Raises:
        WireError: They are none, or beyond the year 2262, which no clock of ours can show.
    """
    found = integer(value or 0, field=field)
    if found < 0:
        raise WireError(f"{field} must not be negative, as {found} is")
    return found


def _double(value: float | str) -> float:
    try:
        return float(value)
    except ValueError:
        raise WireError(f"doubleValue must be a number, not {str(value)[:40]!r}") from None


def _bytes(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise WireError(f"bytesValue must be base64, not {value[:40]!r}") from None
