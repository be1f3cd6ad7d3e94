"""Findings about the IDs of one list: cut silently, foreign, repeated, unreadable, of another scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Severity
from rop_otel.core.handoff.findings.making import finding_at, named
from rop_otel.core.handoff.record import Ids
from rop_otel.core.handoff.trip import Trip


class ListFinding(FindingCode):
    """What may be wrong with the IDs of one list."""

    SILENT_CUT = "silent_cut", Severity.WARNING, "{stage} was not handed {ids}, though the stage before returned it"
    FOREIGN_IDS = (
        "foreign_ids",
        Severity.WARNING,
        "{stage} may not add documents, but returned {ids}, which it was not handed",
    )
    DUPLICATE_IDS = "duplicate_ids", Severity.INFO, "{stage} returned {ids} more than once"
    SCOPE_LEAK = "scope_leak", Severity.ERROR, "{stage} returned {ids} from outside the scope {scope}"
    IDS_UNREADABLE = "ids_unreadable", Severity.ERROR, "{stage} {why}"


def about_lists(trip: Trip) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with a stage's input or returned list."""
    for place, stage in enumerate(trip.stages):
        returned = trip.returned_set(place)
        if stage.input is not None and stage.kind != kinds.RESCUE and (lacking := _silently_cut(trip, place)):
            yield place, finding_at(stage, ListFinding.SILENT_CUT, ids=lacking)
        if returned is None or stage.returned is None:
            if stage.kind != kinds.READER:
                why = "failed, and so returned no list" if stage.failed else "returned documents without readable IDs"
                yield place, finding_at(stage, ListFinding.IDS_UNREADABLE, why=why)
            continue
        if stage.kind in kinds.KEEPING_ONLY and (foreign := _foreign(trip, place, returned)):
            yield place, finding_at(stage, ListFinding.FOREIGN_IDS, ids=foreign)
        if len(returned) < len(stage.returned) and (repeated := _repeated(stage.returned)):
            yield place, finding_at(stage, ListFinding.DUPLICATE_IDS, ids=repeated)
        scope = trip.record.scope_id
        if scope and stage.scopes is not None and (leaked := _leaked(stage.returned, stage.scopes, scope)):
            yield place, finding_at(stage, ListFinding.SCOPE_LEAK, ids=leaked, scope=named(scope))


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
