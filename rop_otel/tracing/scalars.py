"""Single IDs and scores: what counts as one, and what does not.

``str()`` of any object is not an ID: a default ``repr`` is an address, and that of a document is its text. Nothing here
raises, whatever the application's objects do.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import isnan
from pathlib import PurePath
from typing import Final, cast
from uuid import UUID

from rop_otel.safety import raise_if_delivered

_LONGEST_NUMBER: Final = 1000
"""Bits of the longest integer that is an ID; Python refuses to write far longer ones."""

_LONGEST_COUNT: Final = 63
"""Bits of the longest count: the wire has no room for more, and /metrics could not add it up."""

MOST_NAMED: Final = 100_000
"""Objects that are selected or judged, or stages that are named, in one argument. They are never cut, which would
change what is concluded: an argument with more cannot be used."""

_LONGEST_REPR: Final = 200
"""Characters of a value that a message shows."""


def as_id(value: object) -> str | None:
    """Return a string, integer, UUID, path or NumPy scalar as an ID; None for anything else.

    >>> as_id("a"), as_id(7), as_id(None), as_id(True), as_id(0.5)
    ('a', '7', None, None, None)
    """
    try:
        if isinstance(value, str):
            return value if type(value) is str else str.__str__(value)
        if isinstance(value, bool):
            return None
        if isinstance(value, int):
            return int.__repr__(value) if value.bit_length() <= _LONGEST_NUMBER else None
        if isinstance(value, UUID | PurePath):
            return str(value)
        return as_id(value.item()) if _is_numpy_scalar(value) else None  # type: ignore[attr-defined]
    except BaseException as error:  # noqa: BLE001 - the object's own code runs here
        raise_if_delivered(error)
        return None


def is_text(value: object) -> bool:
    """Return whether a value is a non-empty string."""
    return issubclass(type(value), str) and value != ""


def plainly(value: object) -> str:
    """Return a value as a message shows it: its ``repr``, cut where it is long, or its type where that raises."""
    try:
        text = repr(value)
    except BaseException as error:  # noqa: BLE001 - the object's own code runs here
        raise_if_delivered(error)
        return f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_REPR else f"{text[:_LONGEST_REPR]}..."


def described(value: object) -> str:
    """Name a value's type, and those of its first elements; never the value, which may be text."""
    if type(value) in (list, tuple) and value:
        kinds = dict.fromkeys(type(each).__name__ for each in cast("Sequence[object]", value)[:3])
        return f"a {type(value).__name__} of {' and '.join(kinds)}"
    return f"a {type(value).__name__}"


def as_score(value: object) -> float | None:
    """Return a number as a float; None for anything else, NaN included.

    >>> as_score(1), as_score(None), as_score(float("nan"))
    (1.0, None, None)
    """
    try:
        if isinstance(value, bool | str) or not hasattr(value, "__float__"):
            return None
        number = float(value)
    except BaseException as error:  # noqa: BLE001
        raise_if_delivered(error)
        return None
    return None if isnan(number) else number


def as_count(value: object) -> int | None:
    """Return a whole number of 64 bits, a NumPy one included; None for anything else.

    >>> as_count(3), as_count(3.5), as_count(True), as_count(2**63)
    (3, None, None, None)
    """
    try:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            return None
        number = operator.index(value)
    except BaseException as error:  # noqa: BLE001
        raise_if_delivered(error)
        return None
    return number if number.bit_length() <= _LONGEST_COUNT else None


def _is_numpy_scalar(value: object) -> bool:
    return type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
