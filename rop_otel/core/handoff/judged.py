"""Which judged objects were lost, and how they go together with the selected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Drop, DropCause, Joint, JudgedLoss
from rop_otel.core.handoff.lost import Losses, drop
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.scores import Judgments
from rop_otel.core.handoff.shown_list import ShownList
from rop_otel.core.handoff.stage_graph import StageGraph

_JOINT: Final = {
    (True, True): Joint.BOTH,
    (True, False): Joint.SELECTED_ONLY,
    (False, True): Joint.JUDGED_ONLY,
    (False, False): Joint.NEITHER,
}


def judged_losses(losses: Losses, judgments: Judgments | None) -> tuple[JudgedLoss, ...] | None:
    """Return the judged objects that the shown list lacks, in the order of the judgments.

    Args:
        losses: Of the handoff.
        judgments: None or none of a positive grade: nothing is lost.

    Returns:
        None where the shown list is not usable, or cut.
    """
    graph = losses.graph
    if not graph.shown.usable or graph.shown.cut:
        return None
    if not judgments:
        return ()
    found = judgments.raws.intersection(graph.shown.ids)
    if judgments.all_among(found):
        return ()
    arrived = {judgments.object_of[raw] for raw in found}
    lost = {name: raw for name, raw in judgments.first_raws.items() if name not in arrived}
    raws = frozenset(raw for raw, name in judgments.object_of.items() if name in lost)
    places = [place for place, stage in enumerate(graph.stages) if stage.kind != kinds.READER]
    shown = [place for place in graph.shown.places if graph.stages[place].kind in kinds.SHOWING]
    without_text = _last(shown, graph.returned_sets.__getitem__, raws, judgments)
    last = _last(places, graph.returned_sets.__getitem__, raws, judgments)
    handed = _last(places, graph.given_set, raws, judgments) if len(last) < len(lost) else {}

    def lost_at(name: str) -> Drop:
        if name in without_text:
            return drop(DropCause.NO_TEXT, graph.stages[without_text[name]])
        if name in last:
            return losses.after(last[name], _has_any_of(graph, name))
        return losses.nowhere(handed.get(name))

    return tuple(JudgedLoss(id=raw, drop=lost_at(name)) for name, raw in lost.items())


def _last(
    places: Iterable[int],
    ids_at: Callable[[int], AbstractSet[str] | None],
    raws: AbstractSet[str],
    judgments: Judgments,
) -> dict[str, int]:
    """Return the last of some places at which each object has one of its IDs."""
    last: dict[str, int] = {}
    for place in places:
        for raw in raws & (ids_at(place) or frozenset()):
            last[judgments.object_of[raw]] = place
    return last


def _has_any_of(graph: StageGraph, name: str) -> Callable[[AbstractSet[str]], bool]:
    raws = (name,) if graph.resolver is None else graph.resolver.strings(name)
    return lambda ids: any(raw in ids for raw in raws)


def agreement(graph: StageGraph, judgments: Judgments | None) -> bool | None:
    """Return whether a selected object is a judged one; None without judged objects.

    Args:
        graph: A handoff with a usable selection.
        judgments: Its judged objects.
    """
    if not judgments:
        return None
    return any(graph.object_of(key) in judgments.first_raws for key in graph.record.selected or ())


def joint(
    record: HandoffRecord, shown: ShownList, judgments: Judgments | None, *, arrives: bool | None
) -> Joint | None:
    """Return which of both targets the shown list holds, up to the cutoff; None where one is absent or undecided.

    Args:
        record: The handoff.
        shown: Its shown list.
        judgments: Its judged objects.
        arrives: Whether its selection is shown; None where that is undecided, or without a usable one.
    """
    if arrives is None or not judgments:
        return None
    found = not judgments.raws.isdisjoint(shown.up_to(record.cutoff))
    if not found and not shown.decides(record.cutoff):
        return None
    return _JOINT[arrives, found]
