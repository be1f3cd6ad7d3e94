"""Findings about the IDs of one list: cut silently, foreign, repeated, unreadable, of another scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode
from rop_otel.core.handoff.findings.making import finding_at, named, quoted
from rop_otel.core.handoff.record import Ids
from rop_otel.core.handoff.trip import Trip


def about_lists(trip: Trip) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with a stage's input or returned list."""
    for place, stage in enumerate(trip.stages):
        returned = trip.returned_set(place)
        if stage.input is not None and stage.kind != kinds.RESCUE and (lacking := _silently_cut(trip, place)):
            message = f"{stage.kind} was not handed {quoted(lacking)}, though the stage before returned it"
            yield place, finding_at(stage, FindingCode.SILENT_CUT, message, ids=lacking)
        if returned is None or stage.returned is None:
            if stage.kind != kinds.READER:
                why = "failed, and so returned no list" if stage.failed else "returned documents without readable IDs"
                message = f"{stage.kind} {why}"
                yield place, finding_at(stage, FindingCode.IDS_UNREADABLE, message)
            continue
        if stage.kind in kinds.KEEPING_ONLY and (foreign := _foreign(trip, place, returned)):
            message = f"{stage.kind} may not add documents, but returned {quoted(foreign)}, which it was not handed"
            yield place, finding_at(stage, FindingCode.FOREIGN_IDS, message, ids=foreign)
        if len(returned) < len(stage.returned) and (repeated := _repeated(stage.returned)):
            message = f"{stage.kind} returned {quoted(repeated)} more than once"
            yield place, finding_at(stage, FindingCode.DUPLICATE_IDS, message, ids=repeated)
        scope = trip.record.scope_id
        if scope and stage.scopes is not None and (leaked := _leaked(stage.returned, stage.scopes, scope)):
            message = f"{stage.kind} returned {quoted(leaked)} from outside the scope {named(scope)}"
            yield place, finding_at(stage, FindingCode.SCOPE_LEAK, message, ids=leaked)


def _silently_cut(trip: Trip, place: int) -> list[str]:
    handed = trip.input_set(place)
    return [] if handed is None else trip.lacking(trip.fed_set(place), handed)


def _foreign(trip: Trip, place: int, returned: frozenset[str]) -> list[str]:
    handed = trip.input_set(place)
    return [] if handed is None else trip.lacking(returned, handed)


def _repeated(ids: Ids) -> set[str]:
    return {raw for raw, count in Counter(ids).items() if raw and count > 1}


def _leaked(ids: Ids, scopes: tuple[str, ...], scope: str) -> set[str]:
    if len(ids) != len(scopes):
        return set()
    return {raw for raw, found in zip(ids, scopes, strict=True) if raw and found not in ("", scope)}
