"""Combines partial reports into the report that one pass over all shards gives."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.partial import Partial
from rop_otel.core.profile.report import RunReport, run_report
from rop_otel.errors import InputError
from rop_otel.evaluation.declaration_reader import read_declaration
from rop_otel.evaluation.limits import DEFAULT_LIMITS, Limits
from rop_otel.evaluation.partial_reports import Part, Source, check_apart, combine, declaration_of, read_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of merged parts. Iterating yields the records in the report's order, any number of times.

    Args:
        declaration: The declaration's name.
        partial: The added counts.
        report: The run's report.
        parts: The files.
    """

    declaration: str
    partial: Partial
    report: RunReport
    parts: tuple[Part, ...]

    @property
    def has_records(self) -> bool:
        """Whether every part holds its records."""
        return all(part.has_records for part in self.parts)

    def __iter__(self) -> Iterator[Entry]:
        _, records = combine(self.parts)
        return iter(records or ())


def merge_parts(files: Sequence[str], *, declaration: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Merged:
    """Combine partial reports.

    Args:
        files: Their names, at least one.
        declaration: Where the declaration is; None: where the first part found it.
        limits: How large the declaration, each file that it names, and a line of a part, may be.

    Raises:
        InputError: A file cannot be read, is no partial report, belongs to another declaration, contradicts itself, or
            holds what another one holds.
    """
    _refuse_twice(files)
    sources = [Source.of(file, limits) for file in files]
    place = declaration or declaration_of(sources[0])
    opened = read_declaration(place, limits=limits)
    population = None if opened.declaration is None else opened.declaration.population
    places = None if population is None else {name: at for at, name in enumerate(population)}
    parts = tuple(read_part(source, opened, place=place, places=places) for source in sources)
    check_apart(parts)
    partial, _ = combine(parts)
    report = run_report(opened, partial.accounts(population), terms=partial.terms)
    return Merged(declaration=place, partial=partial, report=report, parts=parts)


def _refuse_twice(files: Sequence[str]) -> None:
    """Refuse a file that is given twice, also under two names. A file that cannot be read is reported later."""
    known: dict[tuple[int, int], str] = {}
    for file in files:
        try:
            found = os.stat(file)
        except (OSError, ValueError):
            continue
        identity = found.st_dev, found.st_ino
        if identity in known and stat.S_ISREG(found.st_mode):
            raise InputError(f"is given twice, the first time as {known[identity]}", file=file)
        known[identity] = file
