"""Why a handoff that was assessed is ``UNVERIFIABLE``, in words."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.gaps import why_incomplete
from rop_otel.core.handoff.shown_list import UNSEEN, list_is_cut
from rop_otel.core.handoff.stage_graph import StageGraph

NOT_AT_HAND: Final = "was not given here"
"""The message about a resolver that the handoff names and that was not given."""

SHA256_SHOWN: Final = 12
"""Hex digits of a resolver's hash in a message: enough to distinguish resolvers."""


def why_unverifiable(graph: StageGraph, *, resolver_at_hand: bool) -> str:
    """Return why the verdict of a handoff is ``UNVERIFIABLE``.

    Args:
        graph: The handoff.
        resolver_at_hand: Whether the resolver that it names is the one given.
    """
    if not resolver_at_hand:
        named = (graph.record.resolver_sha256 or "")[:SHA256_SHOWN]
        return f"the resolver that the handoff names ({named}) {NOT_AT_HAND}"
    if graph.record.gaps:
        return why_incomplete(graph.record.gaps)
    shown = [graph.stages[place] for place in graph.shown.places]
    if not shown:
        return _why_nothing_is_shown(graph)
    for stage in shown:
        if stage.returned is None:
            known_as = stage.name or stage.kind
            return f"stage {known_as} failed" if stage.failed else f"the IDs of stage {known_as} could not be read"
    cut = next(stage for stage in shown if list_is_cut(stage))
    return f"the list of stage {cut.name or cut.kind} was cut before it could decide"


def _why_nothing_is_shown(graph: StageGraph) -> str:
    packings = [each for each in graph.left_out if each.stage.kind == kinds.PACKING]
    if not any(stage.kind == kinds.PACKING for stage in graph.stages):
        if any(not each.late for each in packings):
            return "its packing failed, and no other one shows what the reader was given"
        if packings:
            return "its packing ended after the handoff, so what the reader was given is not known"
        if graph.record.failed:
            return "the handoff failed before anything was packed for a reader"
    unseen = next((stage for place in graph.showing if (stage := graph.stages[place]).basis == UNSEEN), None)
    if unseen is not None:
        known_as = unseen.name or unseen.kind
        return f"the prompt was seen, and it holds no text of any document that stage {known_as} returned"
    if any(stage.kind != kinds.READER for stage in graph.record.stages):
        return "each of its stages failed, or ended after the handoff"
    return "no stage ran in this handoff (threads and executors need carry_context)"
