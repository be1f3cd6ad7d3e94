"""The run that recorded handoffs amount to, before its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.run_terms import contradiction, record_of
from rop_otel.core.profile.accounts import Input, Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import RunReport
from rop_otel.evaluation.record_files import report_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedRun:
    """A run's report and its records.

    Args:
        report: The report.
        entries: Its records, by record ID, then in order of their handoffs' start.
    """

    report: RunReport
    entries: tuple[Entry, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {**self.report.as_dict(), "records": [entry.as_dict() for entry in self.entries]}


def handoffs_of_run(handoffs: Sequence[HandoffRecord], opened: Opened) -> list[HandoffRecord]:
    """Return the handoffs with a declaration's ID; all of them where none carries any.

    Args:
        handoffs: In any order.
        opened: The declaration.
    """
    if not any(handoff.declaration_id is not None for handoff in handoffs):
        return list(handoffs)
    return [handoff for handoff in handoffs if handoff.declaration_id == opened.declaration_id]


def assess_run(handoffs: Iterable[HandoffRecord], opened: Opened, *, inputs: Sequence[Input] = ()) -> AssessedRun:
    """Account for the handoffs of a run.

    Args:
        handoffs: Those of the run, in order of their start. One without a record ID is a malformed observation, whose
            ``file`` is the handoff's ID and whose ``line`` its place among these.
        opened: The declaration; where its sheet names a trace field, the judged objects of a handoff stand there.
        inputs: The files that they are from.
    """
    entries: list[Entry] = []
    counts = RunCounts(opened)
    counts.inputs.extend(inputs)
    intake = Intake(opened, counts, keep=entries.append)
    for place, handoff in enumerate(handoffs, 1):
        against = contradiction(handoff, opened)
        if handoff.record_id is None:
            why = f"the record ID at {opened.record_field.text!r} is missing"
            intake.refuse(Malformed(file=handoff.handoff_id, line=place, reason=why))
        elif against is not None:
            intake.observation(Observation(record_id=handoff.record_id, contradiction=against), file="", line=place)
        else:
            intake.record(record_of(handoff, opened), file="", line=place)
    return AssessedRun(report=report_of(opened, counts), entries=tuple(sorted(entries)))
