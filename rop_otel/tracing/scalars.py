"""Single IDs and scores: what counts as one, and what does not.

``str()`` of any object is not an ID: a default ``repr`` is an address, and that of a document is its text.
"""

from __future__ import annotations

import operator
from math import isnan
from pathlib import PurePath
from typing import Final
from uuid import UUID

_LONGEST_NUMBER: Final = 1000
"""Bits of the longest integer that is an ID; Python refuses to write far longer ones."""


def as_id(value: object) -> str | None:
    """Return a string, integer, UUID, path or NumPy scalar as an ID; None for anything else.

    >>> as_id("a"), as_id(7), as_id(None), as_id(True), as_id(0.5)
    ('a', '7', None, None, None)
    """
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int.__repr__(value) if value.bit_length() <= _LONGEST_NUMBER else None
    if isinstance(value, UUID | PurePath):
        return str(value)
    return as_id(value.item()) if _is_numpy_scalar(value) else None  # type: ignore[attr-defined]


def is_text(value: object) -> bool:
    """Return whether a value is a non-empty string."""
    return isinstance(value, str) and value != ""


def as_score(value: object) -> float | None:
    """Return a number as a float; None for anything else, NaN included.

    >>> as_score(1), as_score(None), as_score(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if isnan(number) else number


def as_count(value: object) -> int | None:
    """Return a whole number, a NumPy one included; None for anything else.

    >>> as_count(3), as_count(3.5), as_count(True)
    (3, None, None)
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _is_numpy_scalar(value: object) -> bool:
    return type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
