"""Handoffs that are kept, worked out again from their spans, as they are shown."""

from __future__ import annotations

from typing import Any

from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.stage_lists import lists_of
from rop_otel.core.handoff.written import handoff_as_dict
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.store import Store, Wanted
from rop_otel.page import AssessedSet, Carried


class KeptHandoffs:
    """What is shown of the handoffs in a store. It may be asked by any number of threads.

    Args:
        store: Keeps them.
        assessor: Assesses them, as it did when they were kept.
    """

    def __init__(self, store: Store, assessor: Assessor) -> None:
        self._store = store
        self._assessor = assessor

    def detail(self, handoff_id: str) -> dict[str, Any] | None:
        """Return one handoff in the JSON shape of ``replay --lists``; None where none has this ID."""
        stored = self._store.handoff(handoff_id)
        if stored is None:
            return None
        record = self._records(stored.trace_id, Carried()).get(handoff_id)
        if record is None:
            return {**stored.assessment, "service": stored.service}
        assessment = self._assessor.assess(record)
        lists = lists_of(record, resolver=self._assessor.resolver)
        return {**handoff_as_dict(assessment, record, lists, with_ids=True), "service": stored.service}

    def newest(self, wanted: Wanted, *, limit: int) -> AssessedSet:
        """Return the newest handoffs that are looked for, the oldest of them first, as the page takes them."""
        carried = Carried()
        traces: dict[str, dict[str, HandoffRecord]] = {}
        records: list[HandoffRecord] = []
        for row in reversed(self._store.handoffs(wanted, limit=limit).handoffs):
            if row.trace_id not in traces:
                traces[row.trace_id] = self._records(row.trace_id, carried)
            if row.handoff_id in traces[row.trace_id]:
                records.append(traces[row.trace_id][row.handoff_id])
        return AssessedSet(
            name=f"the newest {len(records):,}",
            assessments=tuple(map(self._assessor.assess, records)),
            records=tuple(records),
            resolver=self._assessor.resolver,
            declaration=self._assessor.declaration,
            declared=frozenset(record.handoff_id for record in records if self._assessor.is_declared(record)),
            carried=carried,
        )

    def _records(self, trace_id: str, carried: Carried) -> dict[str, HandoffRecord]:
        """Return the handoffs of a trace, and of those that share one with it, by ID; none of one just deleted."""
        spans = self._store.spans_of([trace_id], [])
        for span in spans:
            carried.add(span)
        return {record.handoff_id: record for record in self._assessor.assembled(spans).handoffs}
