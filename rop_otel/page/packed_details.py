"""Details written so that they take little room: most lists of a handoff occur in it several times.

A block has three columns, each with one entry for each of its handoffs: ``handoffs``, ``lists``, ``texts``. A list
of values stands once in ``lists``, and ``{"$": place}`` where it belongs; its texts stand once in ``texts``. It is
written as ``{"t": places in texts}``, ``{"f": numbers}`` where 32 bits hold each number exactly, so that
``Math.fround`` gives it back, ``{"n": texts of numbers}`` where one of them is not finite, or as it is. In the page
``rop.unpack(block, place)`` of ``unpack.js`` makes a handoff whole again.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Any, Final

_REFERENCE: Final = "$"
_FLOAT32: Final = struct.Struct("f")
_LONGEST_FLOAT32: Final = 3.4e38
_FEWEST_DIGITS, _MOST_DIGITS = 6, 9
_PLAIN: Final = frozenset({str, int, bool, type(None)})
_WITHIN: Final = frozenset({dict, list, tuple})
_SHORTEST: Final = 3
"""Items from which a list is worth a reference."""


def pack(details: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the details of some handoffs as they stand in the file."""
    columns: dict[str, Any] = {"handoffs": [], "lists": [], "texts": []}
    for detail in details:
        packer = _Packer()
        columns["handoffs"].append(packer.pack(detail))
        columns["lists"].append(packer.lists)
        columns["texts"].append(list(packer.texts))
    return columns


class _Packer:
    """Packs one handoff.

    Attributes:
        texts: Text to its place.
        lists: As they are written.
    """

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.lists: list[Any] = []
        self._places: dict[tuple[type, tuple[Any, ...]], int] = {}

    def pack(self, value: Any) -> Any:
        """Return a value as it is written."""
        if isinstance(value, dict):
            return {name: each if type(each) in _PLAIN else self.pack(each) for name, each in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            return _number(value)
        if not isinstance(value, list | tuple):
            return value
        types = set(map(type, value))
        if not types.isdisjoint(_WITHIN):
            return [each if type(each) in _PLAIN else self.pack(each) for each in value]
        if len(value) < _SHORTEST and float not in types:
            return list(value)
        key = (next(iter(types)), tuple(value))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.lists)
            self.lists.append(self._written(key[1], types))
        return {_REFERENCE: place}

    def _written(self, values: tuple[Any, ...], types: set[type]) -> Any:
        if types == {str}:
            texts = self.texts
            return {"t": [texts.setdefault(each, len(texts)) for each in values]}
        if types == {float}:
            if not all(map(math.isfinite, values)):
                return {"n": [_number(each) for each in values]}
            if all(map(_fits, values)):
                return {"f": [_short(each) for each in values]}
        return list(values)


def _number(value: float) -> str:
    """Return a number as text that JavaScript and Python read."""
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _fits(value: float) -> bool:
    """Return whether 32 bits hold a finite number exactly."""
    return abs(value) < _LONGEST_FLOAT32 and _rounded(value) == value


def _rounded(value: float) -> float:
    found: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    return found


def _short(value: float) -> float:
    """Return the number of fewest digits whose nearest one of 32 bits this is."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        short = float(f"{value:.{digits}g}")
        if abs(short) < _LONGEST_FLOAT32 and _rounded(short) == value:
            return short
    return float(f"{value:.{_MOST_DIGITS}g}")
