"""Where a selected object was lost, and why; for a FAIL only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Drop, DropCause
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.trip import Trip, is_cut, list_is_cut
from rop_otel.core.profile import Membership


def where_lost(
    trip: Trip, membership: Membership, expected: Expected, *, ranks: Sequence[int | None], shown_holds: bool
) -> Drop:
    """Return the stage and cause of a loss.

    Args:
        trip: A handoff whose verdict is FAIL.
        membership: The rule of its selection.
        expected: The stages that it declares.
        ranks: Rank of the selection in each stage's recorded list.
        shown_holds: Whether the recorded shown list holds the selection.
    """
    if not shown_holds:
        silent = [place for place in trip.shown.places if ranks[place] is not None]
        if silent:
            return _drop(DropCause.NO_TEXT, trip.stages[silent[-1]])
    holders = list(_holders(trip, membership, ranks))
    if shown_holds:
        return _below_cutoff(trip, holders, ranks)
    if not holders:
        return _held_nowhere(trip, expected)
    last = max(holders, key=lambda holder: (holder[0], -len(holder)))
    return _after(trip, membership, expected, last)


def _drop(cause: DropCause, stage: StageRecord | None = None) -> Drop:
    if stage is None:
        return Drop(cause=cause)
    return Drop(cause=cause, stage=stage.kind, name=stage.name, round=stage.round)


def _holders(trip: Trip, membership: Membership, ranks: Sequence[int | None]) -> Iterator[tuple[int, ...]]:
    """Yield the stages whose whole list holds the object, each as the places that hold it, the last first.

    Under the rule ``all`` parallel sources that feed one stage hold jointly.
    """
    for place, stage in enumerate(trip.stages):
        if stage.kind == kinds.READER:
            continue
        if ranks[place] is not None:
            yield (place,)
        if trip.record.rule != "all":
            continue
        arms = [feed for feed in trip.feeds[place] if kinds.is_source(trip.stages[feed])]
        if len(arms) > 1 and membership.holds(frozenset().union(*(trip.returned_set(arm) or () for arm in arms))):
            yield tuple(reversed(arms))


def _below_cutoff(trip: Trip, holders: list[tuple[int, ...]], ranks: Sequence[int | None]) -> Drop:
    cutoff = trip.record.cutoff or 0
    # What a shown stage has counts by its rank in the shown list, which is past the cutoff.
    shown = frozenset(trip.shown.places)
    above = [
        place
        for place, rank in enumerate(ranks)
        if rank is not None and rank <= cutoff and place not in shown and trip.stages[place].kind != kinds.READER
    ]
    place = trip.first_fed_by(above[-1]) if above else min((holder[0] for holder in holders), default=None)
    return _drop(DropCause.BELOW_CUTOFF, None if place is None else trip.stages[place])


def _held_nowhere(trip: Trip, expected: Expected) -> Drop:
    stages = [stage for stage in trip.stages if stage.kind != kinds.READER]
    unreadable = next((stage for stage in stages if stage.returned is None), None)
    if unreadable is not None:
        return _drop(DropCause.UNOBSERVED_STAGE, unreadable)
    missing = next((entry for entry in expected.missing if entry != kinds.READER), None)
    if missing is not None:
        return Drop(cause=DropCause.UNOBSERVED_STAGE, stage=missing)
    if any(list_is_cut(stage) or is_cut(stage.input or (), stage.input_count) for stage in stages):
        return _drop(DropCause.BEYOND_RECORDED_DEPTH)
    return _drop(DropCause.NEVER_RETRIEVED)


def _after(trip: Trip, membership: Membership, expected: Expected, last: tuple[int, ...]) -> Drop:
    """Return the loss at the first stage that the last holder feeds."""
    place = trip.first_fed_by(*last)
    if place is None:
        return _drop(DropCause.UNUSED)
    stage = trip.stages[place]
    between = expected.missing_between([trip.stages[holder] for holder in last], stage)
    if between is not None:
        return Drop(cause=DropCause.UNOBSERVED_STAGE, stage=between)
    return _drop(_cause_at(trip, membership, place), stage)


def _cause_at(trip: Trip, membership: Membership, place: int) -> DropCause:
    stage = trip.stages[place]
    if stage.returned is None:
        return DropCause.UNOBSERVED_STAGE
    recorded = None if stage.input is None else trip.input_set(place)
    if recorded is not None and not membership.holds(recorded):
        return DropCause.SILENT_CUT
    if list_is_cut(stage):
        return DropCause.BEYOND_RECORDED_DEPTH
    return kinds.drop_cause(stage.kind)
