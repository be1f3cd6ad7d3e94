"""Findings about the IDs of one list: cut silently, foreign, repeated, unreadable, of another scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import compress

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode
from rop_otel.core.handoff.findings.making import finding_at, quoted
from rop_otel.core.handoff.trip import Trip


def about_list(trip: Trip, place: int) -> Iterator[Finding]:
    """Yield the findings about one stage's input and returned list."""
    stage = trip.stages[place]
    returned = trip.returned_set(place)
    if stage.input is not None and stage.kind != kinds.RESCUE and trip.feeds[place]:
        yield from _silent_cut(trip, place)
    if returned is None or stage.returned is None:
        if stage.kind != kinds.READER:
            yield finding_at(stage, FindingCode.IDS_UNREADABLE, f"{stage.kind} returned documents without readable IDs")
        return
    if stage.kind in kinds.KEEPING_ONLY:
        yield from _foreign_ids(trip, place, returned)
    if len(returned) < len(stage.returned):
        yield from _duplicates(trip, place)
    if trip.record.scope_id and stage.scopes is not None:
        yield from _scope_leak(trip, place)


def _silent_cut(trip: Trip, place: int) -> Iterator[Finding]:
    stage, handed = trip.stages[place], trip.input_set(place)
    lacking = [] if handed is None else trip.lacking(trip.fed_set(place), handed)
    if lacking:
        message = f"{stage.kind} was not handed {quoted(lacking)}, though the stage before returned it"
        yield finding_at(stage, FindingCode.SILENT_CUT, message, ids=lacking)


def _foreign_ids(trip: Trip, place: int, returned: frozenset[str]) -> Iterator[Finding]:
    stage, handed = trip.stages[place], trip.input_set(place)
    foreign = [] if handed is None else trip.lacking(returned, handed)
    if foreign:
        message = f"{stage.kind} may not add documents, but returned {quoted(foreign)}, which it was not handed"
        yield finding_at(stage, FindingCode.FOREIGN_IDS, message, ids=foreign)


def _duplicates(trip: Trip, place: int) -> Iterator[Finding]:
    stage = trip.stages[place]
    repeated = {raw for raw, count in Counter(stage.returned).items() if raw and count > 1}
    if repeated:
        message = f"{stage.kind} returned {quoted(repeated)} more than once"
        yield finding_at(stage, FindingCode.DUPLICATE_IDS, message, ids=repeated)


def _scope_leak(trip: Trip, place: int) -> Iterator[Finding]:
    stage, scope = trip.stages[place], trip.record.scope_id
    ids, scopes = stage.returned or (), stage.scopes or ()
    if len(ids) != len(scopes):
        return
    leaked = {raw for raw in compress(ids, (found not in ("", scope) for found in scopes)) if raw}
    if leaked:
        message = f"{stage.kind} returned {quoted(leaked)} from outside the scope {scope!r}"
        yield finding_at(stage, FindingCode.SCOPE_LEAK, message, ids=leaked)
