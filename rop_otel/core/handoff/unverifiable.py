"""Why a handoff that was judged is ``UNVERIFIABLE``, in words."""

from __future__ import annotations

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.trip import Trip, list_is_cut

SHA256_SHOWN = 12
"""Hex digits of a resolver's hash in a message: enough to tell one from another."""


def why_unverifiable(trip: Trip, *, resolver_at_hand: bool) -> str:
    """Return why the verdict of a handoff is ``UNVERIFIABLE``.

    Args:
        trip: The handoff.
        resolver_at_hand: Whether the resolver that it names is the one given.
    """
    if not resolver_at_hand:
        named = (trip.record.resolver_sha256 or "")[:SHA256_SHOWN]
        return f"the resolver that the handoff names ({named}) is not at hand here"
    if trip.packing_unseen:
        return "its packing failed, or ended after the handoff"
    shown = [trip.stages[place] for place in trip.shown.places]
    if not shown:
        if any(stage.kind != kinds.READER for stage in trip.record.stages):
            return "each of its stages failed, or ended after the handoff"
        return "no stage ran in this handoff (threads and executors need carry_context)"
    for stage in shown:
        if stage.returned is None:
            known_as = stage.name or stage.kind
            return f"stage {known_as} failed" if stage.failed else f"the IDs of stage {known_as} could not be read"
    cut = next(stage for stage in shown if list_is_cut(stage))
    return f"the list of stage {cut.name or cut.kind} was cut before it could decide"
