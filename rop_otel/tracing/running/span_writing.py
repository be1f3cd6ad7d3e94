"""Attributes written on a span at once, without a check of every ID.

OpenTelemetry checks the type of each element of a sequence. For a stage of a hundred documents this costs more than all
other work of the monitor. Our values are tuples of strings and numbers by construction. So if the span keeps its
attributes in the known way (tried once, at import) and no limit is reached, they are written without a check. Otherwise
they are set by the public method, which gives the same attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import Span, Status, StatusCode

from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.running.attribute_limits import fits, within
from rop_otel.tracing.running.exceptions import record_exception

Value = str | bool | int | float | tuple[str, ...] | tuple[int, ...] | tuple[float, ...]


def write(span: Span, attributes: Mapping[str, Value], *, longest: int | None = None) -> None:
    """Set attributes of a recording span.

    Args:
        span: Any span; one that has ended takes nothing.
        attributes: Names to values; non-empty names, and sequences as tuples of exactly the types above.
        longest: Characters that no text in them has more of; None: not known. A limit above this needs no look at them.
    """
    kept = getattr(span, "_attributes", None)
    limit = getattr(kept, "max_value_len", None)
    if type(limit) is int and (longest is None or limit < longest) and not fits(attributes, limit):
        span.set_attributes(within(attributes, limit))
    elif not (_KNOWN and type(kept) is BoundedAttributes and span.is_recording() and _put(kept, attributes)):
        span.set_attributes(attributes)


def blame(span: Span, error: BaseException, *, text: bool, at: int | None = None) -> None:
    """Record on a span that it failed, and with what; it raises where text is asked for and its ``str()`` raises.

    Args:
        span: The span.
        error: The exception.
        text: Whether to record its message and stack trace, too: messages quote documents, and name them.
        at: When, Unix nanoseconds; None: now.
    """
    span.set_status(Status(StatusCode.ERROR, type(error).__name__))
    record_exception(span, error, text=text, at=at)


def _put(kept: BoundedAttributes, attributes: Mapping[str, Value]) -> bool:
    """Put attributes in as they are, which are short enough; False, and nothing is put, where too many are there."""
    with kept._lock:
        if kept.maxlen is not None and len(kept._dict) + len(attributes) > kept.maxlen:
            return False
        kept._dict.update(attributes)
    return True


def _known() -> bool:
    """Return whether attributes put in as they are equal those set the public way."""
    example: dict[str, Value] = {"ids": ("a", "b"), "scores": (0.5, 1.0), "count": 2, "fallback": True, "name": "c"}
    put, checked = (BoundedAttributes(maxlen=8, attributes={"name": "b"}, immutable=False) for _ in range(2))
    try:
        done = _put(put, example)
        for name, value in example.items():
            checked[name] = value
    except Exception as error:  # noqa: BLE001 - another version, whatever it does: the public way is right
        raise_if_delivered(error)
        return False
    return done and dict(put) == dict(checked) and put.dropped == checked.dropped


_KNOWN: Final = _known()
