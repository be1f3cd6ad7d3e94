"""Handoffs that are kept, worked out again from their spans, as they are shown."""

from __future__ import annotations

from typing import Any

from rop_otel.assembling import assemble
from rop_otel.core.handoff import Assessment, HandoffRecord, assess
from rop_otel.core.handoff.stage_lists import lists_of
from rop_otel.core.handoff.written import handoff_as_dict
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.monitor.clock_skew import with_one_clock
from rop_otel.monitor.store import Store, StoredHandoff, Wanted
from rop_otel.page import AssessedSet, Carried
from rop_otel.replay.recorded_run import handoffs_of_run
from rop_otel.spans.conventions import Rules


class KeptHandoffs:
    """What is shown of the handoffs in a store. It may be asked by any number of threads.

    Args:
        store: Keeps them.
        resolver: The resolver in force; None: an ID stands for itself.
        declaration: The declaration of a run, by which its handoffs are assessed; None without one.
        rules: How spans of other conventions are read.
    """

    def __init__(self, store: Store, *, resolver: Resolver | None, declaration: Opened | None, rules: Rules) -> None:
        self._store = store
        self._resolver = resolver
        self._declaration = declaration
        self._rules = rules

    def detail(self, handoff_id: str) -> dict[str, Any] | None:
        """Return one handoff in the JSON shape of ``replay --lists``; None where none has this ID."""
        stored = self._store.handoff(handoff_id)
        if stored is None:
            return None
        found = self._assessed(stored, Carried())
        if found is None:
            return {**stored.assessment, "service": stored.service}
        record, assessment = found
        lists = lists_of(record, resolver=self._resolver)
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
            resolver=self._resolver,
            declaration=self._declaration,
            declared=frozenset(
                record.handoff_id for record, _ in found if declaration_of(record, self._declaration) is not None
            ),
            carried=carried,
        )

    def _assessed(self, stored: StoredHandoff, carried: Carried) -> tuple[HandoffRecord, Assessment] | None:
        """Return a handoff from its spans; None where it has just been deleted."""
        spans = with_one_clock(self._store.spans_of([stored.trace_id], [stored.handoff_id]))
        for record in assemble(spans, self._rules).handoffs:
            if record.handoff_id == stored.handoff_id:
                for span in spans:
                    carried.add(span)
                declaration = declaration_of(record, self._declaration)
                return record, assess(record, resolver=self._resolver, declaration=declaration)
        return None


def declaration_of(record: HandoffRecord, declaration: Opened | None) -> Opened | None:
    """Return the declaration where it is that of a handoff's run."""
    return declaration if declaration is not None and handoffs_of_run([record], declaration) else None
