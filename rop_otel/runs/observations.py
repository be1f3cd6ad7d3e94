"""A run's observations: each becomes a line, and each line is counted, whether it is written now or read back.

A line is a record of ROP v1 with the fields where the declaration says, so that ``evaluate`` reads a journal as it is
and comes to the same report. Names that no path of a declaration can reach, since they hold dots, say the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from rop_otel import semconv
from rop_otel.core.handoff import Assessment, HandoffRecord, Verdict
from rop_otel.core.handoff.run_terms import contradiction, record_of
from rop_otel.core.profile.accounts import Accounts, Input
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.joint import JointCounter
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import MISSING, Run, RunReport, run_report, run_status
from rop_otel.core.profile.run_status import FINISHED, MALFORMED, REPEATED, STARTED, UNEXPECTED, Standing
from rop_otel.evaluation.record_files import report_of
from rop_otel.runs.journal import Stamp

_MOST_BEYOND: Final = 1_000_000
"""Observations beyond one for each expected record that a run may hold, so that one left open by mistake is bounded."""


class Mark(NamedTuple):
    """How the observations of a run stood."""

    lines: int
    entries: int
    observed: int
    malformed: int
    verdicts: dict[Verdict, int]
    judged: dict[Verdict, int]
    ranks: dict[int, int]
    nonmatch: int
    joint: JointCounter
    names: tuple[int, int, int]


class Observations:
    """The observations of a run under a declaration.

    Args:
        opened: The declaration, valid or not.
        stamp: What each line says about the run.
        file: What the report calls the place of its lines.

    Attributes:
        lines: How many have been taken in.
        entries: Their records.
        most: How many lines there may be.
    """

    def __init__(self, opened: Opened, *, stamp: Stamp, file: str) -> None:
        self.opened = opened
        self.lines = 0
        self.entries: list[Entry] = []
        self._missing: list[tuple[str, ...]] = []
        self._file = file
        self._stamp = stamp
        self._counts = RunCounts(opened)
        self.most = len(self._counts.population or ()) + _MOST_BEYOND
        self._intake = Intake(opened, self._counts, keep=self.entries.append, fast=False)

    def line_of(self, record: HandoffRecord, assessment: Assessment) -> bytes:
        """Return a handoff's line, without LF."""
        return self._stamp.line(self._fields(record, assessment))

    def take(self, line: bytes) -> None:
        """Count a line.

        Args:
            line: As :meth:`line_of` made it.
        """
        self.lines += 1
        if not self._take_own(line):
            self._intake.block(line, file=self._file, line=self.lines)

    def mark(self) -> Mark:
        """Return how it stands, for :meth:`go_back`."""
        counts = self._counts
        return Mark(
            lines=self.lines,
            entries=len(self.entries),
            observed=counts.observed,
            malformed=len(counts.malformed),
            verdicts=dict(counts.verdicts),
            judged=dict(counts.judged),
            ranks=dict(counts.ranks),
            nonmatch=counts.nonmatch,
            joint=counts.joint.copy(),
            names=self._names(),
        )

    def go_back(self, mark: Mark) -> None:
        """Stand as before a line that was counted in part, or as a whole.

        Args:
            mark: How that was.
        """
        counts = self._counts
        del self.entries[mark.entries :], counts.malformed[mark.malformed :]
        counts.verdicts, counts.judged = Counter(mark.verdicts), Counter(mark.judged)
        counts.ranks, counts.nonmatch, counts.joint = Counter(mark.ranks), mark.nonmatch, mark.joint.copy()
        if self._names() != mark.names:  # the line was placed, and only its own entry said under which ID
            counts.unseen, counts.duplicates, counts.unexpected = set(counts.population or ()), set(), set()
            self._missing = []
            for entry in self.entries:
                counts.place(entry.record_id)
        self.lines, counts.observed = mark.lines, mark.observed

    def _names(self) -> tuple[int, int, int]:
        counts = self._counts
        return len(counts.unseen), len(counts.duplicates), len(counts.unexpected)

    def report(self, inputs: Sequence[Input] = ()) -> RunReport:
        """Return the report of the lines so far.

        Args:
            inputs: The files that hold them all.
        """
        self._counts.inputs[:] = inputs
        return report_of(self.opened, self._counts)

    def missing(self) -> tuple[str, ...]:
        """Return the expected records not seen so far, sorted."""
        unseen, known = self._counts.unseen, self._missing
        if not known or len(known[-1]) != len(unseen):
            # One call, so that it is kept before a signal handler can come and ask for it, too: sorting takes long, and
            # a handler may come more often than that.
            known.extend(map(tuple, map(sorted, (unseen,))))
            del known[:-1]
        return known[-1]

    def standing(self, run_id: str, *, started: int) -> Standing:
        """Return how the run stands.

        Args:
            run_id: The run.
            started: Handoffs started.
        """
        counts = self._counts
        hard = self.opened.mode == "hard"
        # Whether there are any decides the status; a scrape must not sort a population.
        some = [tuple(islice(names, 1)) for names in (counts.unseen, counts.duplicates, counts.unexpected)]
        accounts = Accounts(counts=counts.counts(), missing=some[0], duplicates=some[1], unexpected=some[2])
        verdicts = run_report(self.opened, accounts).verdicts
        return Standing(
            run_id=run_id,
            status=run_status(Run(opened=self.opened, accounts=accounts)),
            records={
                **verdicts,
                MISSING: len(counts.unseen) if hard else 0,
                STARTED: started,
                FINISHED: counts.observed + len(counts.malformed),
                REPEATED: len(counts.duplicates) if hard else 0,
                UNEXPECTED: len(counts.unexpected) if hard else 0,
                MALFORMED: len(counts.malformed),
            },
        )

    def _fields(self, record: HandoffRecord, assessment: Assessment) -> dict[str, Any]:
        against = None if self.opened.declaration is None else contradiction(record, self.opened)
        if against is None or record.record_id is None:
            return record_of(record, self.opened)
        # To ``evaluate`` this is a malformed observation: a record cannot say that it contradicts the declaration, and
        # must not pass there.
        return {semconv.RECORD_ID: record.record_id, semconv.RUN_CONTRADICTION: against}

    def _take_own(self, line: bytes) -> bool:
        """Count a line that is no record of ROP v1; False where it is one."""
        if semconv.RUN_CONTRADICTION.encode() not in line:
            return False
        fields = json.loads(line)
        if semconv.RUN_CONTRADICTION not in fields:
            return False
        observation = Observation(record_id=fields[semconv.RECORD_ID], contradiction=fields[semconv.RUN_CONTRADICTION])
        self._intake.observation(observation, file=self._file, line=self.lines)
        return True


class OwnWordObservations(Observations):
    """The observations of a run of which only the population is named: each handoff's own verdict counts.

    Args:
        opened: Stands for the declaration that there is none of: hard, with the population.
        stamp: As for observations.
        file: Likewise.
    """

    def _fields(self, record: HandoffRecord, assessment: Assessment) -> dict[str, Any]:
        fields = record_of(record, _without_paths(self.opened))
        if record.record_id is not None and assessment.verdict is not None:
            fields[semconv.VERDICT] = assessment.verdict.value
            fields[semconv.SELECTED_RANK] = assessment.selected_rank
            fields[semconv.RUN_REASON] = str(assessment)
        return fields

    def _take_own(self, line: bytes) -> bool:
        fields = json.loads(line)
        if semconv.VERDICT not in fields:
            return False  # without a record ID, which the intake says
        verdict = Verdict(fields[semconv.VERDICT])
        rank = fields[semconv.SELECTED_RANK] if verdict in {Verdict.PASS, Verdict.FAIL} else None
        record_id, reason = fields[self.opened.record_field.text], fields[semconv.RUN_REASON]
        # Nobody declared that it may go unchecked, so it counts as unchecked.
        hard = Verdict.UNVERIFIABLE if verdict is Verdict.NOT_APPLICABLE else verdict
        self._counts.verdicts[verdict] += 1
        self._counts.count_judged(hard, rank or 0, length=0)
        self._counts.place(record_id)
        self.entries.append(Entry(record_id, self._file, self.lines, verdict, rank, None, reason))
        return True


def _without_paths(opened: Opened) -> Opened:
    return Opened(
        manifest_sha256=opened.manifest_sha256,
        declaration_id=None,
        mode=None,
        record_field=opened.record_field,
        faults=(),
        declaration=None,
    )
