"""Values of span attributes, read as what a fact may be: one function for each type of fact.

Attributes set by hand have all kinds of values. Where the meaning is clear, reading is tolerant (an ID that is a number
is its ``str()``). Otherwise it gives a value that the checks report (an unreadable list is ``ids_unreadable``, a mode
of the wrong type is ``DECLARATION_INVALID``). Nothing here raises, whatever the values are. An absent attribute is
None.
"""

from __future__ import annotations

from typing import Final

_LONGEST_NUMBER: Final = 1000
"""Bits of the longest integer that is written as text or read as a float; Python refuses far longer ones."""

_ONLY_TEXTS: Final[frozenset[type]] = frozenset({str})
_ONLY_NUMBERS: Final[frozenset[type]] = frozenset({float})

_LONGEST_COUNT: Final = 63
"""Bits of the longest count or rank, which is what the wire has room for."""


def text(value: object) -> str | None:
    """Return a string, or a number as one; None for anything else, and for an empty string."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return None
    return str(value) if isinstance(value, int | float) else None


def text_or_empty(value: object) -> str:
    """Return a text; the empty string for none."""
    return text(value) or ""


def ids(value: object) -> tuple[str, ...] | None:
    """Return an array of IDs, the empty string for one that cannot be read; None where it is no array."""
    items = _array(value)
    if items is None:
        return None
    if {*map(type, items)} <= _ONLY_TEXTS:
        return tuple(items)  # type: ignore[arg-type]  # which was looked at, at once
    return tuple([item if type(item) is str else text(item) or "" for item in items])


def scopes(value: object) -> tuple[str, ...] | None:
    """Return an array of scopes, of which an empty one is unknown; a text alone is an array of one."""
    return texts(value)


def texts(value: object) -> tuple[str, ...] | None:
    """Return an array of texts; a text alone is an array of one."""
    if _array(value) is not None:
        return ids(value)
    alone = text(value)
    return None if alone is None else (alone,)


def names(value: object) -> tuple[str, ...]:
    """Return an array of names without the empty ones; none where there is no array."""
    return tuple(name for name in texts(value) or () if name)


def selected(value: object) -> tuple[str, ...] | None:
    """Return selected IDs, the empty string for one that is no string; anything but an array is one of one."""
    if value is None:
        return None
    items = _array(value)
    return tuple(item if isinstance(item, str) else "" for item in ((value,) if items is None else items))


def choice(value: object) -> str | None:
    """Return one of several values, as it came; the empty string, which is invalid, for anything but a string."""
    return value if value is None or isinstance(value, str) else ""


def integer(value: object) -> int | None:
    """Return an integer of 64 bits, or a float that is one; None for anything else, truth values included."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > _LONGEST_COUNT:
        return None
    return value


def integers(value: object) -> tuple[int, ...] | None:
    """Return an array of integers; None where one is missing, since the rest would no longer be aligned."""
    items = _array(value)
    if items is None:
        return None
    found = [number for item in items if (number := integer(item)) is not None]
    return tuple(found) if len(found) == len(items) else None


def number(value: object) -> float | None:
    """Return a number; also one written as text, which is what older SDKs make of a numpy scalar."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def numbers(value: object) -> tuple[float, ...] | None:
    """Return an array of numbers; None where one is missing, since the rest would no longer be aligned."""
    items = _array(value)
    if items is None:
        return None
    if {*map(type, items)} <= _ONLY_NUMBERS:
        return tuple(items)  # type: ignore[arg-type]  # which was looked at, at once
    found = [each for item in items if (each := item if type(item) is float else number(item)) is not None]
    return tuple(found) if len(found) == len(items) else None


def flag(value: object) -> bool:
    """Return whether something is said to be so; anything but True is not."""
    return value is True


def truth(value: object) -> bool | None:
    """Return what is said to be so or not; None where nothing is."""
    return value if isinstance(value, bool) else None


def round_number(value: object) -> int | None:
    """Return a round from 1 on; None for anything else."""
    found = integer(value)
    return found if found is not None and found >= 1 else None


def cutoff(value: object) -> int | None:
    """Return a cutoff; 0, which is invalid, for one that is no integer."""
    if value is None:
        return None
    found = integer(value)
    return 0 if found is None else found


def grades(value: object) -> tuple[int, ...]:
    """Return grades; 1 for one that is no integer, as for one that is missing."""
    return tuple(1 if (grade := integer(item)) is None else grade for item in _array(value) or ())


def _array(value: object) -> list[object] | tuple[object, ...] | None:
    return value if isinstance(value, list | tuple) else None
