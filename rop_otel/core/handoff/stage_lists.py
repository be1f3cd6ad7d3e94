"""What each stage returned, and which of the documents that it was handed it did not return."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import HandoffRecord, Ids
from rop_otel.core.handoff.shown_list import list_is_cut
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.terms import at_hand
from rop_otel.core.profile import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLists:
    """The lists of one stage.

    Args:
        stage, name, round: Which stage.
        returned: What it returned, as far as it was recorded; None where unreadable.
        dropped: What it was handed and did not return, in the order of its input; None where one of the two lists is
            not known in full. A rescue only adds to what packing shows.
        added: What it returned and was not handed, in order; None where its input is not known in full, and for a
            source, which is handed nothing.
    """

    stage: str
    name: str | None = None
    round: int | None = None
    returned: Ids | None = None
    dropped: Ids | None = None
    added: Ids | None = None


def lists_of(record: HandoffRecord, *, resolver: Resolver | None = None) -> tuple[StageLists, ...]:
    """Return the lists of each stage of a handoff: in order, without readers and without stages left out.

    Args:
        record: The facts.
        resolver: The resolver in force; a document is not dropped where another one of its object was returned.
    """
    return listed(StageGraph(record, resolver if at_hand(record, resolver) else None))


def listed(graph: StageGraph) -> tuple[StageLists, ...]:
    """Return the same of a handoff whose stages are arranged already."""
    return tuple(
        StageLists(
            stage=stage.kind,
            name=stage.name,
            round=stage.round,
            returned=stage.returned,
            dropped=_dropped(graph, place),
            added=_added(graph, place),
        )
        for place, stage in enumerate(graph.stages)
        if stage.kind != kinds.READER
    )


def _added(graph: StageGraph, place: int) -> Ids | None:
    stage = graph.stages[place]
    handed = graph.input_set(place)
    if stage.returned is None or handed is None:
        return None
    return tuple(raw for raw in dict.fromkeys(stage.returned) if raw and raw not in handed)


def _dropped(graph: StageGraph, place: int) -> Ids | None:
    stage, feeding = graph.stages[place], graph.feeds[place].places
    if stage.kind == kinds.RESCUE:
        return ()
    returned = graph.returned_sets[place]
    if stage.input is None and not feeding and kinds.is_source(stage):
        return ()
    handed = graph.input_set(place)
    if returned is None or handed is None or list_is_cut(stage):
        return None
    lacking = set(graph.lacking(handed, returned))
    lists = [stage.input] if stage.input is not None else [graph.stages[feed].returned or () for feed in feeding]
    return tuple(raw for raw in dict.fromkeys(chain.from_iterable(lists)) if raw in lacking)
