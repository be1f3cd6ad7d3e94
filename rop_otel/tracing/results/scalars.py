"""Single IDs and scores: what counts as one, and what does not.

``str()`` of any object is not an ID: a default ``repr`` is an address, and that of a document is its text. Nothing here
raises, whatever the application's objects do.
"""

from __future__ import annotations

import operator
from collections.abc import Sized
from math import isnan
from pathlib import PurePath
from typing import Final, cast
from uuid import UUID

from rop_otel.core.idshape import NAME, IdShape
from rop_otel.safety import raise_if_delivered

_LONGEST_NUMBER: Final = 1000
"""Bits of the longest integer that is an ID; Python refuses to write far longer ones."""

_LONGEST_COUNT: Final = 63
"""Bits of the longest count: the wire has no room for more, and /metrics could not add it up."""

MOST_NAMED: Final = 100_000
"""Objects that are selected or judged, or stages that are named, in one argument. They are never cut, which would
change what is concluded: an argument with more cannot be used."""

_LARGEST_SHOWN: Final = 1000
"""Below this a number is shown in a message; a larger one may be an ID."""

_SIZED: Final = frozenset({str, bytes, list, tuple, dict, set, frozenset})
"""Types whose length is known without running code of the application."""


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


def as_name(value: object, shape: IdShape = NAME) -> str | None:
    r"""Return a non-empty string that is no text, as a plain one; None for anything else.

    >>> as_name("rerank"), as_name(""), as_name("What did the patient in room 4\nsay?")
    ('rerank', None, None)
    """
    if not issubclass(type(value), str):
        return None
    name = str.__str__(value)
    return name if name and shape.fit((name,)) else None


def plainly(value: object) -> str:
    """Return what a message says of a value: its type and its length, since it may be text; a small number itself.

    >>> plainly("Which one?"), plainly([1, 2]), plainly(0), plainly(None), plainly(4711)
    ('a str of length 10', 'a list of length 2', '0', 'None', 'a int')
    """
    kind = type(value)
    small = kind in (int, float) and abs(cast("float", value)) < _LARGEST_SHOWN
    if small or kind in (bool, type(None)):
        return repr(value)
    length = f" of length {len(cast('Sized', value))}" if kind in _SIZED else ""
    return f"a {kind.__name__}{length}"


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


def as_scope(value: object) -> str:
    """Return a scope; the empty string, which is unknown, for what is none."""
    return as_id(value) or ""


def as_flag(value: object) -> bool | None:
    """Return whether an object is true; None where that raises."""
    try:
        return bool(value)
    except BaseException as error:  # noqa: BLE001 - the object's own code runs here
        raise_if_delivered(error)
        return None


def as_truth(value: object) -> bool | None:
    """Return True or False, NumPy's included; None for anything else.

    >>> as_truth(False), as_truth(1), as_truth("no")
    (False, None, None)
    """
    if isinstance(value, bool):
        return value
    return as_flag(value) if type(value).__name__ in ("bool", "bool_") and _is_numpy_scalar(value) else None


def _is_numpy_scalar(value: object) -> bool:
    return type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
