"""Runs under the monitor's declaration: what their handoffs are in their records, and what these amount to."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from heapq import nsmallest
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.run_terms import contradiction, record_of
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Intake
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.evaluation.record_files import report_of
from rop_otel.monitor.store import NONE, Store, StoredRun
from rop_otel.runs.journal import Stamp
from rop_otel.safety import create_lock

_BLOCK: Final = 1000
_MOST_KEPT: Final = 16
"""Runs whose counts stay in memory."""

_MOST_IDS: Final = 1000
"""IDs that one list of a report names."""


def line_of(record: HandoffRecord, opened: Opened) -> bytes:
    """Return what a handoff is in the records of its run, one line without LF.

    Args:
        record: The handoff.
        opened: The declaration of the run.
    """
    against = contradiction(record, opened)
    stamp = Stamp(run_id=record.run_id or NONE, manifest_sha256=opened.manifest_sha256)
    if against is None or record.record_id is None:
        return stamp.line(record_of(record, opened))
    return stamp.line({semconv.RECORD_ID: record.record_id, semconv.RUN_CONTRADICTION: against})


class _Counted:
    """A run as far as its lines are counted.

    Attributes:
        lines: How many were read.
        last: When the last of them was settled.
    """

    def __init__(self, opened: Opened) -> None:
        self.lines = 0
        self.last = 0
        self.counts = RunCounts(opened)
        self._mark = f'"{semconv.DECLARATION_SHA256}":"{opened.manifest_sha256}"'.encode()
        self._intake = Intake(opened, self.counts)

    def take(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Count lines; those of another declaration are none of the run's."""
        block: list[bytes] = []
        for self.last, line in lines:
            self.lines += 1
            if self._mark in line and not self._take_contradiction(line):
                block.append(line)
            if len(block) == _BLOCK:
                self._take_block(block)
        self._take_block(block)

    def _take_block(self, block: list[bytes]) -> None:
        self._intake.block(b"\n".join(block), file="", line=self.lines - len(block) + 1)
        block.clear()

    def _take_contradiction(self, line: bytes) -> bool:
        if semconv.RUN_CONTRADICTION.encode() not in line:
            return False
        fields = json.loads(line)
        if semconv.RUN_CONTRADICTION not in fields:
            return False
        against = Observation(record_id=fields[semconv.RECORD_ID], contradiction=fields[semconv.RUN_CONTRADICTION])
        self._intake.observation(against, file="", line=self.lines)
        return True


class DeclaredRuns:
    """Counts the runs of a declaration; what was counted is not read again. Any number of threads may ask.

    Args:
        store: Keeps the lines.
        opened: The declaration.
    """

    def __init__(self, store: Store, opened: Opened) -> None:
        self._store = store
        self._opened = opened
        self._lock = create_lock()
        self._known: OrderedDict[str, _Counted] = OrderedDict()

    def missing(self, run: StoredRun) -> tuple[int, int] | None:
        """Return how many records are planned and how many are missing; None where it is no run of the declaration."""
        with self._lock:
            counts = self._counted(run).counts
            if counts.population is None or not counts.observed:
                return None
            return len(counts.population), len(counts.unseen)

    def report(self, run: StoredRun) -> tuple[list[str], dict[str, Any]] | None:
        """Return the first missing records and the report; None where it is no run of the declaration."""
        with self._lock:
            counts = self._counted(run).counts
            if not counts.observed and not counts.malformed:
                return None
            report = report_of(self._opened, counts).as_dict()
            cut = {name: value[:_MOST_IDS] for name, value in report.items() if isinstance(value, list)}
            return nsmallest(_MOST_IDS, counts.unseen), {**report, **cut}

    def _counted(self, run: StoredRun) -> _Counted:
        known = self._known.pop(run.run_id, None) or _Counted(self._opened)
        known.take(self._store.observations_of(run.run_id, after=known.last))
        if known.lines != run.declared:  # some were deleted, or settled again
            known = _Counted(self._opened)
            known.take(self._store.observations_of(run.run_id))
        self._known[run.run_id] = known
        while len(self._known) > _MOST_KEPT:
            self._known.popitem(last=False)
        return known
