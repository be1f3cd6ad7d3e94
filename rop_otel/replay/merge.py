"""Partial reports combined: the report that one pass over all the shards gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.partial import Partial
from rop_otel.core.profile.report import RunReport, run_report
from rop_otel.errors import InputError
from rop_otel.replay.declared import read_declaration
from rop_otel.replay.limits import DEFAULT_LIMITS, Limits
from rop_otel.replay.parts import Part, combine, read_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What parts come to; iterating yields the records in the report's order, as often as asked.

    Args:
        declaration: The declaration's name.
        partial: What adds up.
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
        limits: How large the declaration, and each file that it names, may be.

    Raises:
        InputError: A file cannot be read, is no partial report, or belongs to another declaration.
    """
    parts = tuple(map(read_part, files))
    partial, _ = combine(parts)
    place = declaration or parts[0].declaration
    opened = read_declaration(place, limits=limits)
    if opened.manifest_sha256 != partial.manifest_sha256:
        raise InputError("is not the declaration that the parts were made with", file=place)
    hard = opened.declaration is not None and opened.declaration.mode == "hard"
    population = opened.declaration.population if opened.declaration is not None and hard else None
    report = run_report(opened, partial.accounts(population), cutoffs=partial.cutoffs)
    return Merged(declaration=place, partial=partial, report=report, parts=parts)
