"""Handoffs that are kept, worked out again from their spans, as they are shown."""

from __future__ import annotations

from typing import Any

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.handoff.stage_lists import lists_of
from rop_otel.core.handoff.written import handoff_as_dict
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.store import Store, StoredHandoff, Wanted
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
        found = self._assessed(stored, Carried())
        if found is None:
            return {**stored.assessment, "service": stored.service}
        record, assessment = found
        lists = lists_of(record, resolver=self._assessor.resolver)
        return {**handoff_as_dict(assessment, record, lists, with_ids=True), "service": stored.service}

    def newest(self, wanted: Wanted, *, limit: int) -> AssessedSet:
        """Return the newest handoffs that are looked for, the oldest of them first, as the page takes them."""
        carried = Carried()
        listed = reversed(self._store.handoffs(wanted, limit=limit).handoffs)
        found = [each for row in listed if (each := self._assessed(row, carried)) is not None]
        return AssessedSet(
            name=f"the newest {len(found):,}",
            assessments=tuple(assessment for _, assessment in found),
            records=tuple(record for record, _ in found),
            resolver=self._assessor.resolver,
            declaration=self._assessor.declaration,
            declared=frozenset(record.handoff_id for record, _ in found if self._assessor.is_declared(record)),
            carried=carried,
        )

    def _assessed(self, stored: StoredHandoff, carried: Carried) -> tuple[HandoffRecord, Assessment] | None:
        """Return a handoff from its spans; None where it has just been deleted."""
        spans = self._store.spans_of([stored.trace_id], [stored.handoff_id])
        for record in self._assessor.assembled(spans).handoffs:
            if record.handoff_id == stored.handoff_id:
                for span in spans:
                    carried.add(span)
                return record, self._assessor.assess(record)
        return None
