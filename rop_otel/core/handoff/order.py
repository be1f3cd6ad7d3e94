"""Which stages count, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import not_
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.foreign import Nesting, leave_out_seen_twice, within_sources
from rop_otel.core.handoff.record import StageRecord


class Arranged(NamedTuple):
    """Stages of one handoff, in order.

    Args:
        kept: The stages that count.
        late: Those that ended after their handoff.
        within: For each stage that counts, the place of the foreign source that it ran within, None where there is
            none; empty where that is so for all.
        packing_unseen: Whether a packing failed or ended late, and no other one did better.
    """

    kept: tuple[StageRecord, ...]
    late: tuple[StageRecord, ...]
    within: tuple[int | None, ...] = ()
    packing_unseen: bool = False


def arrange(stages: Sequence[StageRecord], *, end_ns: int) -> Arranged:
    """Order stages by end time, start time and span ID, and leave out those that do not count.

    Left out: a second span with one trace and span ID, stages that end after the handoff, failed packing and
    rescue stages, foreign stages that another one tells of already, and wrappers.

    Args:
        stages: In any order; may be empty.
        end_ns: End of the handoff, Unix nanoseconds.
    """
    distinct = sorted({(stage.trace_id, stage.span_id): stage for stage in reversed(stages)}.values(), key=_position)
    on_time = [stage.end_ns is not None and stage.end_ns <= end_ns for stage in distinct]
    counts = [
        ended and not (stage.failed and stage.kind in kinds.SHOWING)
        for stage, ended in zip(distinct, on_time, strict=True)
    ]
    packed = {counted for stage, counted in zip(distinct, counts, strict=True) if stage.kind == kinds.PACKING}
    within: tuple[int | None, ...] = ()
    foreign = any(stage.foreign for stage in distinct)
    if foreign or any(stage.parent_id is not None for stage in distinct):
        nesting = _nesting(distinct)
        if foreign:
            leave_out_seen_twice(distinct, nesting, counts)
        _leave_out_wrappers(distinct, nesting, counts)
        if foreign:
            within = within_sources(distinct, nesting, counts)
    late = tuple(compress(distinct, map(not_, on_time)))
    return Arranged(tuple(compress(distinct, counts)), late, within, packing_unseen=packed == {False})


def _position(stage: StageRecord) -> tuple[float, int, str]:
    return (float("inf") if stage.end_ns is None else stage.end_ns, stage.start_ns, stage.span_id)


def _nesting(stages: Sequence[StageRecord]) -> Nesting:
    places = {(stage.trace_id, stage.span_id): place for place, stage in enumerate(stages)}
    parents = [None if stage.parent_id is None else places.get((stage.trace_id, stage.parent_id)) for stage in stages]
    return Nesting(parents, sorted(range(len(stages)), key=_depths(parents).__getitem__))


def _leave_out_wrappers(stages: Sequence[StageRecord], nesting: Nesting, counts: list[bool]) -> None:
    """Stop counting each stage that returns the same list as the last of the counting stages below it."""
    last_below: dict[int, int] = {}
    for place in reversed(nesting.outermost_first):
        last = last_below.get(place, -1)
        if counts[place]:
            if last >= 0 and _same_list(stages[place], stages[last]):
                counts[place] = False
            else:
                last = max(last, place)
        parent = nesting.parents[place]
        if parent is not None:
            last_below[parent] = max(last_below.get(parent, -1), last)


def _depths(parents: Sequence[int | None]) -> list[int]:
    """Return how many stages enclose each one; a cycle, which no tracer makes, ends where it closes."""
    depths: list[int | None] = [None] * len(parents)
    for place in range(len(parents)):
        path: list[int] = []
        seen: set[int] = set()
        here: int | None = place
        while here is not None and depths[here] is None and here not in seen:
            path.append(here)
            seen.add(here)
            here = parents[here]
        depth = -1 if here is None or depths[here] is None else depths[here] or 0
        for step in reversed(path):
            depth += 1
            depths[step] = depth
    return [depth or 0 for depth in depths]


def _same_list(one: StageRecord, other: StageRecord) -> bool:
    return one.returned is not None and one.returned == other.returned and one.true_count == other.true_count
