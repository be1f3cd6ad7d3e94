"""Handoffs that are kept, worked out again from their spans, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rop_otel.core.handoff import HandoffRecord
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.store import Store, StoredHandoff, Wanted
from rop_otel.page import AssessedSet, Carried
from rop_otel.page.document import places, rows, summary, totals_of
from rop_otel.page.plain_detail import plain_detail


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
        """Return one handoff as the page shows it; None where none has this ID."""
        stored = self._store.handoff(handoff_id)
        if stored is None:
            return None
        shown = self._set([stored])
        return plain_detail(shown, 0) if shown.records else None

    def rows(self, wanted: Wanted, *, limit: int, after: str | None = None) -> dict[str, Any]:
        """Return a page of rows, the newest first, with the places that their marks stand for."""
        page = self._store.handoffs(wanted, limit=limit, after=after)
        shown = self._set(page.handoffs)
        totals = totals_of(shown)
        return {"places": places(totals), "handoffs": list(rows(shown, totals)), "after": page.after}

    def summary(self, wanted: Wanted) -> dict[str, Any]:
        """Return what handoffs add up to."""
        shown = self._set(self._store.handoffs(wanted, limit=2000).handoffs)
        return {"handoffs": len(shown.records), "summary": summary(shown, totals_of(shown)), "hours": []}

    def newest(self, wanted: Wanted, *, limit: int) -> AssessedSet:
        """Return the newest handoffs that are looked for, the oldest of them first, as the page takes them."""
        return self._set(list(reversed(self._store.handoffs(wanted, limit=limit).handoffs)))

    def _set(self, listed: Sequence[StoredHandoff]) -> AssessedSet:
        carried = Carried()
        traces: dict[str, dict[str, HandoffRecord]] = {}
        records: list[HandoffRecord] = []
        for row in listed:
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
