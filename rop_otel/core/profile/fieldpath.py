"""Paths of ROP v1: names joined by dots, with at most one ``name[]`` that maps over a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Absent(Enum):
    """What a path reads where a record holds nothing; ``null`` is a value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPath:
    """A parsed path.

    Args:
        text: As it was written.
        head: The names up to the list, or all of them.
        tail: The names below each item of the list; empty where nothing is mapped.
    """

    text: str
    head: tuple[str, ...]
    tail: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Read a path.

        Raises:
            ValueError: A name is empty or holds a bracket, or more than one name maps.

        >>> FieldPath.parse("results[].object_id").read({"results": [{"object_id": "a"}, {}]})
        ['a', None]
        """
        names = text.split(".")
        lists = [place for place, name in enumerate(names) if name.endswith("[]")]
        if len(lists) > 1:
            raise ValueError(f"{text!r} maps over more than one list; at most one name may end with []")
        plain = [name.removesuffix("[]") for name in names]
        for name in plain:
            if not name or "[" in name or "]" in name:
                raise ValueError(f"{text!r} is no path: {name!r} is empty or holds a bracket")
        cut = lists[0] + 1 if lists else len(plain)
        return cls(text=text, head=tuple(plain[:cut]), tail=tuple(plain[cut:]))

    def read(self, record: object) -> object:
        """Return what stands at the path; ``ABSENT`` where there is nothing, or no list where the path maps over one.

        Mapping drops nothing: an item without the name stays as None.
        """
        found = _walk(record, self.head)
        if not self.tail:
            return found
        if not isinstance(found, list):
            return ABSENT
        values = (_walk(item, self.tail) for item in found)
        return [None if value is ABSENT else value for value in values]


def _walk(value: object, names: Sequence[str]) -> object:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return ABSENT
        value = value[name]
    return value
