"""Reads blocks of record lines as columns: no string is made for each single ID."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fast_records import RawRecords, RawRow, is_utf8
from rop_otel.core.profile.intake import Intake
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.evaluation.column_intake import ColumnIntake
from rop_otel.evaluation.column_ranking import ColumnRanking, Columns
from rop_otel.evaluation.string_arrays import PAD, Flags, Ints, Texts

_QUOTE, _COMMA, _SPACE, _OPEN, _CLOSE = b'", []'


class LineColumns:
    """Takes in blocks of lines.

    Args:
        reader: Reads lines.
        intake: Where the records go.
        ranking: The membership rule.
        depth: How deep lists were stored; 0 if unknown.
    """

    def __init__(self, reader: RawRecords, intake: Intake, ranking: ColumnRanking, *, depth: int) -> None:
        self._reader, self._intake, self._columns = reader, intake, ColumnIntake(intake, ranking, depth=depth)

    @classmethod
    def compile(cls, opened: Opened, intake: Intake, counts: RunCounts) -> LineColumns | None:
        """Return an object that takes in the lines of a declaration; None if its paths or its resolver are not plain.

        Under a trace set there is none.
        """
        declaration = opened.declaration
        reader = None if declaration is None else RawRecords.compile(declaration, opened.record_field)
        if declaration is None or reader is None or counts.trace_field is not None:
            return None
        ranking = ColumnRanking(declaration)
        return cls(reader, intake, ranking, depth=counts.terms.depth or 0) if ranking.fits else None

    def block(self, block: bytes, *, file: str, line: int) -> int:
        """Take in whole lines, as :meth:`~rop_otel.core.profile.intake.Intake.block` does."""
        if not is_utf8(block):
            return self._intake.block(block, file=file, line=line)
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        rows = self._reader.rows(lines)
        if b"\\" in block:
            rows = [None if b"\\" in text else row for text, row in zip(lines, rows, strict=True)]
        left = [place for place, row in enumerate(rows) if row is None]
        if len(left) < len(rows):
            left = sorted((*left, *self._take(rows, file, line)))
        for place in left:
            self._intake.line(lines[place], file=file, line=line + place)
        return len(lines)

    def _take(self, rows: Sequence[RawRow | None], file: str, line: int) -> Sequence[int]:
        """Take in rows, at least one, and return the places of those that the checks must look at."""
        places = np.array([place for place, row in enumerate(rows) if row is not None])
        record_ids, selected, lists = zip(*filter(None, rows), strict=True)
        selections, keyed = _strings(selected)
        returned, offsets, flat = _lists(lists)
        plain = keyed & flat & np.fromiter(map(bool, record_ids), dtype=bool, count=len(record_ids))
        columns = Columns(selections=selections, returned=returned, offsets=offsets)
        taken = self._columns.take(columns, record_ids, plain, file=file, lines=places + line)
        left: list[int] = places[~taken].tolist()
        return left


def _joined(raws: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], Ints, Ints]:
    lengths = np.fromiter(map(len, raws), dtype=np.int64, count=len(raws))
    ends = np.cumsum(lengths) + PAD
    return np.frombuffer(b"".join((bytes(PAD), *raws)), dtype=np.uint8), ends - lengths, ends


def _strings(raws: Sequence[bytes]) -> tuple[Texts, Flags]:
    """Return JSON values as strings without their quotes, and which of them are strings."""
    data, starts, ends = _joined(raws)
    quoted = data[starts] == _QUOTE
    return Texts(data, np.where(quoted, starts + 1, ends), np.where(quoted, ends - 1, ends)), quoted


def _lists(raws: Sequence[bytes]) -> tuple[Texts, Ints, Flags]:
    """Return the strings in JSON values without escapes, each value's offset, and which are flat lists of strings.

    The values are valid JSON. One that begins ``["``, ends ``"]`` and holds nothing but a comma, and perhaps a space,
    between its strings is a list of strings; one that is laid out otherwise is not known to be.
    """
    data, starts, ends = _joined(raws)
    quotes = np.flatnonzero(data == _QUOTE)
    firsts, lasts = quotes[0::2], quotes[1::2]
    offsets = np.searchsorted(firsts, np.append(starts, ends[-1:]))
    counts = np.diff(offsets)
    flat: Flags = (data[starts] == _OPEN) & ((counts > 0) | (ends - starts == 2))
    some = np.flatnonzero(counts)
    first, last = firsts[offsets[some]], lasts[offsets[some + 1] - 1]
    flat[some] &= (first == starts[some] + 1) & (last == ends[some] - 2) & (data[ends[some] - 1] == _CLOSE)
    gaps = firsts[1:] - lasts[:-1]
    near = (gaps == 2) | ((gaps == 3) & (data[np.minimum(lasts[:-1] + 2, len(data) - 1)] == _SPACE))
    apart = np.flatnonzero(~(near & (data[lasts[:-1] + 1] == _COMMA)))
    rows = np.searchsorted(offsets, apart, side="right") - 1
    flat[rows[apart + 1 < offsets[rows + 1]]] = False
    return Texts(data, firsts + 1, lasts), offsets, flat
