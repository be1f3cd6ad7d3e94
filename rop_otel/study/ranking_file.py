"""One frozen ranking: a line for each planned row, written batch by batch, taken up again where it was stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rop_otel.core.ranking import Lost, Query, Ranked, StudyRow
from rop_otel.errors import InputError


class RankingFile:
    """A ranking that is being written under ``<name>.part`` and gets its name when it is complete.

    Args:
        folder: Where it is to stand.
        form: The query form's name.
        rule: The rule's name.
        rows: The planned rows.
        batch: How many lines are written at a time; a part is taken up again after whole batches.

    Attributes:
        done: How many rows it holds.

    Raises:
        InputError: It holds something else than the planned rows.
    """

    def __init__(self, folder: Path, form: str, rule: str, rows: Sequence[StudyRow], *, batch: int) -> None:
        self.name = f"{form}.{rule.replace(':', '+')}.jsonl"
        self._form, self._rule = form, rule
        self._file = folder / self.name
        self._part = folder / f"{self.name}.part"
        self._rows = rows
        self.done = self._held(self._file, 1) if self._file.exists() else 0
        if self._file.exists() and self.done != len(rows):
            raise InputError(f"holds {self.done} of {len(rows)} planned rows", file=str(self._file))
        if not self._file.exists() and self._part.exists():
            self.done = self._held(self._part, batch)

    def append(self, queries: Sequence[Query | Lost], found: Sequence[Ranked | Lost]) -> None:
        """Write the next rows; the last ones complete the file."""
        rows = self._rows[self.done : self.done + len(found)]
        lines = (self._line(row, query, ranked) for row, query, ranked in zip(rows, queries, found, strict=True))
        with self._part.open("ab") as stream:
            stream.writelines(json_line(line) for line in lines)
        self.done += len(found)
        if self.done == len(self._rows):
            os.replace(self._part, self._file)

    def ids(self) -> Iterator[str]:
        """Yield every page that stands in a complete file, some more than once.

        Raises:
            InputError: It does not hold the planned rows, as where two processes wrote it.
        """
        if self._held(self._file, 1) != len(self._rows):
            raise InputError(f"it does not hold the {len(self._rows)} planned rows", file=str(self._file))
        with self._file.open("rb") as stream:
            for line in stream:
                yield from json.loads(line)["ids"] or ()

    def _held(self, file: Path, batch: int) -> int:
        """Return how many rows a file holds in whole batches, and cut off what follows them."""
        kept, size, position = 0, 0, 0
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    break
                if number > len(self._rows) or not _is_of(line, self._rows[number - 1]):
                    raise InputError("it is the line of another row than was planned", file=str(file), line=number)
                position += len(line)
                if number % batch == 0:
                    kept, size = number, position
        if file == self._part:
            os.truncate(file, size)
        return kept

    def _line(self, row: StudyRow, query: Query | Lost, found: Ranked | Lost) -> dict[str, Any]:
        line: dict[str, Any] = {"id": row.id, "selector": row.selector, "form": self._form, "rule": self._rule}
        if isinstance(found, Lost) or isinstance(query, Lost):
            reason = query.reason if isinstance(query, Lost) else found.reason  # type: ignore[union-attr]
            return {**line, "query": None, "ids": None, "scores": None, "reason": reason}
        return {
            **line,
            "query": query.text,
            "ids": [page for page, _ in found],
            "scores": [score for _, score in found],
        }


def json_line(value: Any) -> bytes:
    """Return a value as one line of JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write_whole(file: Path, data: bytes) -> None:
    """Put a whole file into place at once."""
    part = file.with_name(f"{file.name}.new")
    part.write_bytes(data)
    part.replace(file)


def _is_of(line: bytes, row: StudyRow) -> bool:
    try:
        fields = json.loads(line)
    except ValueError:
        return False
    return isinstance(fields, dict) and (fields.get("id"), fields.get("selector")) == (row.id, row.selector)
