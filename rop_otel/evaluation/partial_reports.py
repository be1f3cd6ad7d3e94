"""Files of partial reports: a line with the counts, then a line for each record, in order."""

from __future__ import annotations

import heapq
import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from rop_otel.core.escapes import printable_json
from rop_otel.core.profile.consistency import Recount, contradiction_in
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.json_values import decode, encode
from rop_otel.core.profile.partial import Partial, PartialError
from rop_otel.errors import InputError
from rop_otel.evaluation.external_sort import in_order
from rop_otel.evaluation.limits import RAISE_FILE_BYTES, Limits
from rop_otel.safety.files import input_errors, read_whole, too_large

_ID_BITS: Final = 16
"""Bits of a population file that a record ID takes at least: one character and its LF."""


class _Head(msgspec.Struct, kw_only=True):
    declaration: str
    records: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that is read more than once.

    Args:
        file: Its name.
        data: What it holds, where it is a pipe; None: it is a regular file.
        limits: How long a line may be.
    """

    file: str
    data: bytes | None = field(repr=False)
    limits: Limits

    @classmethod
    def of(cls, file: str, limits: Limits) -> Source:
        """Return a file.

        Raises:
            InputError: It cannot be read, or is neither regular nor a pipe.
        """
        with input_errors(file):
            regular = stat.S_ISREG(os.stat(file).st_mode)
        data = None if regular else read_whole(file, most=limits.max_file_bytes, remedy=RAISE_FILE_BYTES)
        return cls(file=file, data=data, limits=limits)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, the last of which may lack its LF.

        Raises:
            InputError: The file cannot be read, or a line is too long.
        """
        most = self.limits.max_file_bytes
        with input_errors(self.file), self._opened() as stream:
            while line := stream.readline(most + 1):
                if len(line) > most:
                    raise InputError(too_large(most, RAISE_FILE_BYTES), file=self.file)
                yield line

    def _opened(self) -> BinaryIO:
        return open(self.file, "rb") if self.data is None else io.BytesIO(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of a partial report.

    Args:
        source: The file.
        partial: The counts.
        has_records: Whether the records follow.
        digest: SHA-256 of their lines.
    """

    source: Source
    partial: Partial
    has_records: bool
    digest: bytes

    @property
    def file(self) -> str:
        """The file's name."""
        return self.source.file

    def records(self) -> Iterator[Entry]:
        """Yield the records, in the report's order.

        Raises:
            InputError: A line is no record.
        """
        return (entry for entry, _ in _entries(self.source))


def part_lines(partial: Partial, records: Iterable[Entry] | None, *, declaration: str) -> Iterator[bytes]:
    """Yield the lines of a part.

    Args:
        partial: The counts.
        records: In the report's order; None leaves them out.
        declaration: The declaration's name, which is made absolute, for the later merge.
    """
    head = _Head(declaration=str(Path(declaration).resolve()), records=records is not None)
    yield _line(encode(head))
    yield _line(partial.to_bytes())
    for entry in records or ():
        yield _line(encode(entry))


def declaration_of(source: Source) -> str:
    """Return where the declaration was when a part was made.

    Raises:
        InputError: The file is no part.
    """
    return _head(source).declaration


def read_part(source: Source, opened: Opened, *, place: str, places: Mapping[str, int] | None) -> Part:
    """Read the counts of a part.

    Args:
        source: The file.
        opened: The declaration that it has to belong to.
        place: Where that is.
        places: Where each record ID stands in the population, where the declaration accounts for one.

    Raises:
        InputError: The file cannot be read, is no partial report, belongs to another declaration, does not hold as many
            records as it counts, or says what cannot be true.
    """
    head, file = _head(source), source.file
    lines = source.lines()
    next(lines)
    most = source.limits.max_file_bytes // _ID_BITS if places is None else (len(places) + 7) // 8
    try:
        partial = Partial.parse(next(lines, b""), bitmap_bytes=most)
    except PartialError as error:
        raise InputError(f"no partial report: {error}", file=file) from None
    if partial.manifest_sha256 != opened.manifest_sha256:
        raise InputError(f"{place!r} is not the declaration that it was made with", file=file)
    held = sum(line.endswith(b"\n") for line in lines)
    counted = partial.counts.observed if head.records else 0
    if held != counted:
        raise InputError(f"holds {held:,} whole records and counts {counted:,}: it was cut short or changed", file=file)
    if (why := contradiction_in(partial, opened)) is not None:
        raise InputError(f"contradicts itself: {why}", file=file)
    digest = _recounted(source, partial, Recount(opened, partial.terms, places)) if head.records else b""
    return Part(source=source, partial=partial, has_records=head.records, digest=digest)


def combine(parts: Sequence[Part]) -> tuple[Partial, Iterator[Entry] | None]:
    """Return the added counts of parts, and their records in order; None for the records if a part has none.

    Raises:
        InputError: They do not belong together.
    """
    total = parts[0].partial
    for part in parts[1:]:
        try:
            total += part.partial
        except PartialError as error:
            raise InputError(str(error), file=part.file) from None
    if not all(part.has_records for part in parts):
        return total, None
    return total, heapq.merge(*(part.records() for part in parts), key=in_order)


def check_apart(parts: Sequence[Part]) -> None:
    """Refuse parts that hold the same observations.

    A record ID that two shards observed makes a run invalid, which the report says. The same line of the same record
    file in two parts was observed once.

    Raises:
        InputError: A part is given twice, or two overlap.
    """
    known: dict[tuple[object, ...], Part] = {}
    for part in parts:
        content = (part.digest, part.partial.seen, part.partial.counts.observed)
        comparable = part.partial.counts.observed and (part.has_records or part.partial.seen)
        if comparable and content in known and known[content].partial == part.partial:
            raise InputError(f"holds the same as {known[content].file}: a shard is given twice", file=part.file)
        known[content] = part
    if _share_ids(parts):
        _refuse_overlaps([part for part in parts if part.has_records])


def _share_ids(parts: Sequence[Part]) -> bool:
    """Return whether a record ID of the population, or outside it, was observed in two parts."""
    total = parts[0].partial
    for part in parts[1:]:
        if total.seen & part.partial.seen or not total.unexpected.isdisjoint(part.partial.unexpected):
            return True
        total += part.partial
    return False


def _refuse_overlaps(parts: Sequence[Part]) -> None:
    records = [zip(map(in_order, part.records()), repeat(place), strict=False) for place, part in enumerate(parts)]
    before: tuple[object, int] = (None, -1)
    for observation, place in heapq.merge(*records):
        if observation == before[0] and place != before[1]:
            record_id, file, line = observation
            why = f"holds the record {record_id!r} of {file}:{line}, as {parts[before[1]].file} does: shards overlap"
            raise InputError(why, file=parts[place].file)
        before = observation, place


def _head(source: Source) -> _Head:
    try:
        return decode(next(source.lines(), b""), _Head)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"no partial report: {error}", file=source.file) from None


def _recounted(source: Source, partial: Partial, recount: Recount) -> bytes:
    digest = sha256()
    for number, (entry, line) in enumerate(_entries(source), 3):
        digest.update(line)
        if (why := recount.add(entry)) is not None:
            raise InputError(f"contradicts itself: {why}", file=source.file, line=number)
    if (why := recount.contradiction_in(partial)) is not None:
        raise InputError(f"contradicts itself: {why}", file=source.file)
    return digest.digest()


def _entries(source: Source) -> Iterator[tuple[Entry, bytes]]:
    for number, line in enumerate(source.lines(), 1):
        if number <= 2:
            continue
        try:
            yield decode(line, Entry), line
        except (ValueError, RecursionError) as error:
            raise InputError(f"no record of a partial report: {error}", file=source.file, line=number) from None


def _line(json: bytes) -> bytes:
    return printable_json(json.decode()).encode() + b"\n"
