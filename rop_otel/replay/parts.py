"""Files of partial reports: a line that adds up, then a line per record, in order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, itemgetter
from pathlib import Path
from typing import Final

import msgspec

from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.partial import Partial, PartialError
from rop_otel.errors import InputError


class _Head(msgspec.Struct, kw_only=True):
    declaration: str
    records: bool


_read_head: Final = msgspec.json.Decoder(_Head).decode
_read_entry: Final = msgspec.json.Decoder(Entry).decode
_in_order: Final = itemgetter(0, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of a partial report.

    Args:
        file: Its name.
        declaration: Where the declaration was when it was made.
        partial: What adds up.
        has_records: Whether the records follow.
    """

    file: str
    declaration: str
    partial: Partial
    has_records: bool

    def records(self) -> Iterator[Entry]:
        """Yield the records, in the report's order.

        Raises:
            InputError: A line is no record.
        """
        with open(self.file, "rb") as stream:
            stream.readline()
            stream.readline()
            for number, line in enumerate(stream, 3):
                try:
                    yield _read_entry(line)
                except (msgspec.DecodeError, RecursionError) as error:
                    raise InputError(f"no record of a partial report: {error}", file=self.file, line=number) from None


def part_lines(partial: Partial, records: Iterable[Entry] | None, *, declaration: str) -> Iterator[bytes]:
    """Yield the lines of a part.

    Args:
        partial: What adds up.
        records: In the report's order; None leaves them out.
        declaration: The declaration's name, which is made absolute, for whoever combines the parts.
    """
    head = _Head(declaration=str(Path(declaration).resolve()), records=records is not None)
    yield msgspec.json.encode(head) + b"\n"
    yield partial.to_bytes() + b"\n"
    for entry in records or ():
        yield msgspec.json.encode(entry) + b"\n"


def read_part(file: str) -> Part:
    """Read what adds up in a part.

    Raises:
        InputError: The file cannot be read, is no partial report, or does not hold as many records as it counts.
    """
    try:
        with open(file, "rb") as stream:
            head, partial = _read_head(stream.readline()), Partial.parse(stream.readline())
            held = sum(line.endswith(b"\n") for line in stream)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except (msgspec.DecodeError, PartialError, ValueError, RecursionError) as error:
        raise InputError(f"no partial report: {error}", file=file) from None
    counted = partial.counts.observed if head.records else 0
    if held != counted:
        raise InputError(f"holds {held:,} whole records and counts {counted:,}: it was cut short or changed", file=file)
    return Part(file=file, declaration=head.declaration, partial=partial, has_records=head.records)


def combine(parts: Sequence[Part]) -> tuple[Partial, Iterator[Entry] | None]:
    """Return what parts add up to, and their records in order; None where a part has none.

    Raises:
        InputError: They do not belong together.
    """
    try:
        total = reduce(add, (part.partial for part in parts))
    except PartialError as error:
        raise InputError(str(error), file=parts[-1].file) from None
    if not all(part.has_records for part in parts):
        return total, None
    return total, heapq.merge(*(part.records() for part in parts), key=_in_order)
