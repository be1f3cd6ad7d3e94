"""What a live run comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.report import RunReport
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.evaluation.run_report_json import report_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveReport:
    """The report of a run that was watched while it went on.

    Args:
        run_id: The run.
        run: Its report, as ``rop-otel evaluate`` gives it for the same records.
        entries: Its records, in the report's order.
        incomplete: Why something may be missing from the report or from the journal, a sentence each; empty where
            nothing is.
    """

    run_id: str
    run: RunReport
    entries: tuple[Entry, ...]
    incomplete: tuple[str, ...] = ()

    @property
    def status(self) -> RunStatus:
        """The run's status."""
        return self.run.run_status

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract; ``incomplete`` stands in it where there is something to say."""
        return {**self.run.as_dict(), **self._beside(), "records": [entry.as_dict() for entry in self.entries]}

    def to_bytes(self) -> bytes:
        """Return the report as ``rop-otel evaluate --format json`` prints it."""
        return b"".join(report_lines(self.run, self.entries, beside=self._beside()))

    def __str__(self) -> str:
        counted = ", ".join(f"{count:,} {verdict}" for verdict, count in self.run.verdicts.items() if count)
        sentence = f"run {self.run_id!r}: {self.status} ({counted or 'no records'})"
        return "; ".join((sentence, *self.incomplete))

    def _beside(self) -> dict[str, Any]:
        return {"incomplete": list(self.incomplete)} if self.incomplete else {}
