"""Which documents each stage was handed and did not return."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import HandoffRecord, Ids
from rop_otel.core.handoff.trip import Trip, list_is_cut
from rop_otel.core.handoff.verdict import at_hand
from rop_otel.core.profile import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What one stage dropped.

    Args:
        stage, name, round: Which stage.
        ids: What it was handed and did not return, in the order of its input; None where one of the two lists is not
            known in full. A source is handed nothing, and a rescue only adds to what packing shows.
    """

    stage: str
    name: str | None = None
    round: int | None = None
    ids: Ids | None = None


def dropped(record: HandoffRecord, *, resolver: Resolver | None = None) -> tuple[Dropped, ...]:
    """Return what each stage of a handoff dropped: in order, without readers and without stages left out.

    Args:
        record: The facts.
        resolver: The resolver in force; a document is not dropped where another one of its object was returned.
    """
    trip = Trip(record, resolver if at_hand(record, resolver) else None)
    return tuple(
        Dropped(stage=stage.kind, name=stage.name, round=stage.round, ids=_dropped(trip, place))
        for place, stage in enumerate(trip.stages)
        if stage.kind != kinds.READER
    )


def _dropped(trip: Trip, place: int) -> Ids | None:
    stage, feeding = trip.stages[place], trip.feeds[place]
    if stage.kind == kinds.RESCUE:
        return ()
    returned = trip.returned_set(place)
    if stage.input is None and not feeding and kinds.is_source(stage):
        return ()
    handed = trip.input_set(place)
    if returned is None or handed is None or list_is_cut(stage):
        return None
    lacking = set(trip.lacking(handed, returned))
    lists = [stage.input] if stage.input is not None else [trip.stages[feed].returned or () for feed in feeding]
    return tuple(raw for raw in dict.fromkeys(chain.from_iterable(lists)) if raw in lacking)
