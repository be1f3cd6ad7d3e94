"""Which stages count, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.foreign import leave_out_seen_twice
from rop_otel.core.handoff.nesting import Parents, depths_of, enclosing, parents_of
from rop_otel.core.handoff.record import HandoffRecord, StageRecord


class LeftOut(NamedTuple):
    """A stage that does not count.

    Args:
        place: Of its span among all of them.
        stage: The stage.
        late: Whether it ended after its handoff; otherwise it is a packing or rescue that failed.
    """

    place: int
    stage: StageRecord
    late: bool


class Ordered(NamedTuple):
    """The stages of one handoff, in order; those that only wrap others are among them.

    Args:
        stages: Those that count.
        places: The place of each one's span among all of them.
        around: The place, among the stages that count, of the one that encloses each, None where there is none; empty:
            none encloses another.
        left_out: Those that ended late, and packings and rescues that failed.
    """

    stages: tuple[StageRecord, ...]
    places: Sequence[int]
    around: Sequence[int | None]
    left_out: tuple[LeftOut, ...]


def in_order(record: HandoffRecord) -> Ordered:
    """Order the stages of a handoff, and leave out those that do not count.

    They are ordered by end time, then depth, start time and span ID. Left out: a second span with one trace and span
    ID, stages that end after the handoff, failed packing and rescue stages, and foreign stages whose retrieval
    another stage describes already.

    Args:
        record: The handoff; its stages in any order.
    """
    if _is_ordered(record.stages, record.end_ns):
        return Ordered(record.stages, range(len(record.stages)), (), ())
    stages, parents = in_order_of_ends(record.stages)
    late = [stage.end_ns is None or stage.end_ns > record.end_ns for stage in stages]
    counts = [
        not (after or (stage.failed and stage.kind in kinds.SHOWING)) for stage, after in zip(stages, late, strict=True)
    ]
    left_out: tuple[LeftOut, ...] = ()
    if not all(counts):
        left_out = tuple(LeftOut(place, stages[place], late[place]) for place, kept in enumerate(counts) if not kept)
    if any(stage.foreign for stage in stages):
        leave_out_seen_twice(stages, parents or [None] * len(stages), counts)
    around = _around(stages, parents, counts) if parents else []
    if all(counts):
        return Ordered(tuple(stages), range(len(stages)), around, left_out)
    return Ordered(tuple(compress(stages, counts)), list(compress(range(len(stages)), counts)), around, left_out)


def _is_ordered(stages: Sequence[StageRecord], end_ns: int) -> bool:
    """Return whether all of them count and stand in order, none below another: as most pipelines record them."""
    before = -1
    for stage in stages:
        end = stage.end_ns
        if end is None or end <= before or stage.parent_id is not None or stage.failed or stage.foreign:
            return False
        before = end
    return before <= end_ns and len({stage.span_id for stage in stages}) == len(stages)


def in_order_of_ends(stages: Sequence[StageRecord]) -> tuple[list[StageRecord], Parents]:
    """Return distinct stages in order, with the place of the stage above each; none of these where all stand alone."""
    distinct = {(stage.trace_id, stage.span_id): stage for stage in reversed(stages)}
    ordered = sorted(distinct.values(), key=_position)
    if all(stage.parent_id is None for stage in ordered):
        return ordered, ()
    parents = parents_of(ordered)
    if all(parent is None for parent in parents):
        return ordered, ()
    depths = depths_of(parents)
    by_depth = sorted(range(len(ordered)), key=lambda place: (_end(ordered[place]), -depths[place], place))
    now_at = {before: now for now, before in enumerate(by_depth)}
    moved = [None if (parent := parents[before]) is None else now_at[parent] for before in by_depth]
    return [ordered[before] for before in by_depth], moved


def _position(stage: StageRecord) -> tuple[float, int, str, str]:
    return (_end(stage), stage.start_ns, stage.span_id, stage.trace_id)


def _end(stage: StageRecord) -> float:
    return float("inf") if stage.end_ns is None else stage.end_ns


def _around(stages: Sequence[StageRecord], parents: Parents, counts: Sequence[bool]) -> list[int | None]:
    may = [kept and stage.kind != kinds.READER for stage, kept in zip(stages, counts, strict=True)]
    kept_at = {place: kept for kept, place in enumerate(compress(range(len(stages)), counts))}
    around = enclosing(parents, may)
    return [None if (found := around[place]) is None else kept_at[found] for place in kept_at]
