"""Findings about the IDs of one list: cut silently, foreign, repeated, unreadable, of another scope, none at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Severity
from rop_otel.core.handoff.feeds import NOTHING
from rop_otel.core.handoff.findings.making import finding_at, named
from rop_otel.core.handoff.record import Ids, StageRecord
from rop_otel.core.handoff.shown_list import list_is_cut
from rop_otel.core.handoff.stage_graph import StageGraph

_MAY_BE_EMPTY: Final = frozenset({kinds.RESCUE, kinds.READER})


class ListFinding(FindingCode):
    """What may be wrong with the IDs of one list."""

    SILENT_CUT = "silent_cut", Severity.WARNING, "{stage} was not handed {ids}, though the stage before returned it"
    FOREIGN_IDS = (
        "foreign_ids",
        Severity.WARNING,
        "{stage} may not add documents, but returned {ids}, which it was not handed",
    )
    DUPLICATE_IDS = "duplicate_ids", Severity.INFO, "{stage} returned {ids} more than once"
    NOTHING_RETURNED = "nothing_returned", Severity.WARNING, "{stage} returned nothing{though}"
    SCOPE_LEAK = "scope_leak", Severity.ERROR, "{stage} returned {ids} from outside the scope {scope}"
    IDS_UNREADABLE = "ids_unreadable", Severity.ERROR, "{stage} returned documents without readable IDs"


def about_lists(graph: StageGraph) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with a stage's input or returned list."""
    at, scope, empty = graph.places, graph.record.scope_id, False
    for place, (stage, returned) in enumerate(zip(graph.stages, graph.returned_sets, strict=True)):
        if stage.input is not None and stage.kind != kinds.RESCUE and (lacking := _silently_cut(graph, place)):
            yield at[place], finding_at(stage, ListFinding.SILENT_CUT, ids=lacking)
        if returned is None or stage.returned is None:
            if stage.kind != kinds.READER and not stage.failed:
                yield at[place], finding_at(stage, ListFinding.IDS_UNREADABLE)
            continue
        empty = empty or not stage.returned
        if stage.kind in kinds.KEEPING_ONLY and (foreign := _foreign(graph, place, returned)):
            yield at[place], finding_at(stage, ListFinding.FOREIGN_IDS, ids=foreign)
        if len(returned) < len(stage.returned) and (repeated := _repeated(stage.returned)):
            yield at[place], finding_at(stage, ListFinding.DUPLICATE_IDS, ids=repeated)
        if scope and stage.scopes is not None and (leaked := _leaked(stage.returned, stage.scopes, scope)):
            yield at[place], finding_at(stage, ListFinding.SCOPE_LEAK, ids=leaked, scope=named(scope))
    if empty:
        for place, though in _returned_nothing(graph):
            yield at[place], finding_at(graph.stages[place], ListFinding.NOTHING_RETURNED, though=though)


def _silently_cut(graph: StageGraph, place: int) -> list[str]:
    if not graph.has_known_record(place):
        return []
    fed = graph.feeds[place]
    if place not in graph.within:
        return graph.lacking(graph.fed_set(fed), graph.given_set(place))
    outside = [feed for feed in fed.places if not graph.encloses(place, feed)]
    return graph.lacking(graph.union(outside), graph.given_set(place))


def _foreign(graph: StageGraph, place: int, returned: frozenset[str]) -> list[str]:
    handed = graph.input_set(place)
    within = graph.within.get(place, NOTHING)
    if handed is None or handed is returned or not graph.are_known(within):
        return []
    return graph.lacking(returned, handed | graph.fed_set(within) if within.places else handed)


def _is_empty(stage: StageRecord) -> bool:
    return stage.returned is not None and not stage.returned and not list_is_cut(stage)


def _returned_nothing(graph: StageGraph) -> Iterator[tuple[int, str]]:
    """Yield the place of each stage that returned nothing though documents were to be had, and what is odd about it."""
    found: dict[int, str] = {}
    for run in graph.parallel:
        if all(_is_empty(graph.stages[place]) for place in run):
            found[run[-1]] = ", and neither did the sources beside it" if len(run) > 1 else ""
    for place, stage in enumerate(graph.stages):
        if _is_empty(stage) and graph.was_handed_documents(place):
            found[place] = " though it was handed documents"
    yield from ((place, though) for place, though in found.items() if graph.stages[place].kind not in _MAY_BE_EMPTY)


def _repeated(ids: Ids) -> set[str]:
    return {raw for raw, count in Counter(ids).items() if raw and count > 1}


def _leaked(ids: Ids, scopes: tuple[str, ...], scope: str) -> set[str]:
    if len(ids) != len(scopes):
        return set()
    return {raw for raw, found in zip(ids, scopes, strict=True) if raw and found not in ("", scope)}
