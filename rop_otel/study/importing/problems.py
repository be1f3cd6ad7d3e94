"""Rows of a file that cannot be used: each is counted and named, and the others are read on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeGuard

from rop_otel.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row that was read, with its place.

    Args:
        file: The file's name as the user gave it.
        line: 1-based line at which it begins.
        fields: What it holds, in our names.
    """

    file: str
    line: int
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A row that cannot be used.

    Args:
        file: The file's name as the user gave it.
        line: 1-based line.
        reason: What is wrong, in one sentence.
    """

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Problems:
    """What could not be read, in the order in which it was met."""

    def __init__(self) -> None:
        self._met: list[Problem] = []

    def __len__(self) -> int:
        return len(self._met)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._met)

    def add(self, file: str, line: int, reason: str) -> None:
        """Name a row that cannot be used."""
        self._met.append(Problem(file=file, line=line, reason=reason))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each as a JSON value."""
        return map(asdict, self._met)

    def usable(self, rows: Iterable[tuple[str, int, dict[str, Any] | str]], source: str, what: str) -> Iterator[Row]:
        """Yield the rows that can be used; of the others it is noted what is wrong.

        Args:
            rows: File and line of each, with its fields in our names or what is wrong with it.
            source: The name of the file, or of the folder of files.
            what: What a row should be, in the singular.

        Raises:
            InputError: There was none that can be used.
        """
        count = 0
        for file, line, fields in rows:
            if isinstance(fields, str):
                self.add(file, line, fields)
            else:
                count += 1
                yield Row(file=file, line=line, fields=fields)
        self.refuse_if_none(count, source, what)

    def refuse_if_none(self, count: int, file: str, what: str) -> None:
        """Refuse a file of which no row could be used: it is not what it was taken for.

        Args:
            count: How many rows were used.
            file: The file's name.
            what: What its rows should be, in the singular.

        Raises:
            InputError: There was none.
        """
        if not count:
            first = next((f", the first because of this: {each}" for each in self._met if each.file == file), "")
            raise InputError(f"no {what} in it can be used{first}", file=file)


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a string that holds more than blanks."""
    return isinstance(value, str) and bool(value.strip())


def missing(fields: dict[str, Any], *names: str) -> str | None:
    """Return a sentence on the first of the fields that is no string with something in it; None: all are."""
    for name in names:
        if not is_text(fields.get(name)):
            given = f"not {fields[name]!r:.60}" if name in fields else "and is missing"
            return f"{name!r} has to be a non-empty string, {given}"
    return None
