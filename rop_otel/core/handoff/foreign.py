"""Stages read out of foreign spans: one retrieval may have several of them, and counts once.

Frameworks call a retriever inside a retriever and trace both. And if two instrumentations watch one call, ours and
another one, each makes a span of it, side by side or one inside the other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.nesting import Parents, outermost_first
from rop_otel.core.handoff.record import Ids, StageRecord


def leave_out_seen_twice(stages: Sequence[StageRecord], parents: Parents, counts: list[bool]) -> None:
    """Stop counting foreign stages whose retrieval another stage describes already.

    Args:
        stages: In order.
        parents: The place of the stage above each, None where there is none.
        counts: Which stages count; changed in place.
    """
    outermost = outermost_first(parents)
    _leave_out_what_ours_report(stages, parents, outermost, counts)
    _leave_out_inner_without_list(stages, parents, outermost, counts)


def _leave_out_what_ours_report(
    stages: Sequence[StageRecord], parents: Parents, outermost: Sequence[int], counts: list[bool]
) -> None:
    """Leave out foreign stages whose list one of our stages has, too.

    This is so for a foreign stage inside one of ours of the same role, and for one that overlaps in time with one of
    ours that has the same list or, if no ID can be read in the foreign list, the same role.
    """
    roles: list[frozenset[str]] = [frozenset()] * len(stages)
    wanted = {_role(stage) for stage in stages if stage.foreign}
    own: dict[Ids | str, list[StageRecord]] = {}
    for place, stage in enumerate(stages):
        if counts[place] and not stage.foreign and stage.returned and not _may_be_pipeline(stage):
            own.setdefault(stage.returned, []).append(stage)
            own.setdefault(_role(stage), []).append(stage)
    calls: dict[Ids | str, _Calls] = {}
    for place in outermost:
        stage, parent = stages[place], parents[place]
        role = _role(stage)
        above = roles[place] if parent is None else roles[parent]
        roles[place] = above
        if not stage.foreign:
            roles[place] = above | {role} if counts[place] and role in wanted and role not in above else above
            continue
        alike = role if stage.returned is None else stage.returned
        if alike in own and alike not in calls:
            calls[alike] = _Calls(own[alike])
        if role in above or (alike in calls and calls[alike].include(stage)):
            counts[place] = False


def _role(stage: StageRecord) -> str:
    """Return what makes two stages alike: their kind, but sources are all alike, and fusion has sources within."""
    if kinds.is_source(stage) or (stage.kind == kinds.FUSION and not stage.foreign):
        return kinds.VECTOR
    return stage.kind


def _may_be_pipeline(own: StageRecord) -> bool:
    """Return whether a stage of ours may be a whole pipeline, which the foreign stages describe in more detail."""
    return kinds.is_custom(own) and not kinds.is_source(own)


class _Calls:
    """Stages of ours that are alike; finds out whether one describes the same call as a foreign stage.

    Args:
        own: At least one, in order of their ends; all have ended.
    """

    def __init__(self, own: Sequence[StageRecord]) -> None:
        starts = [stage.start_ns for stage in own]
        self._ends = [stage.end_ns or 0 for stage in own]
        self._latest_start = list(accumulate(starts, max))
        self._earliest_start = list(accumulate(reversed(starts), min))[::-1]

    def include(self, foreign: StageRecord) -> bool:
        """Return whether a foreign stage and one of them describe one call: one of the two lasts within the other."""
        if foreign.end_ns is None:
            return False
        first, after = bisect_left(self._ends, foreign.end_ns), bisect_right(self._ends, foreign.end_ns)
        within = after > 0 and self._latest_start[after - 1] >= foreign.start_ns
        around = first < len(self._ends) and self._earliest_start[first] <= foreign.start_ns
        return within or around


def _leave_out_inner_without_list(
    stages: Sequence[StageRecord], parents: Parents, outermost: Sequence[int], counts: list[bool]
) -> None:
    """Leave out foreign sources of which no ID can be read within a foreign source.

    Not where another kind of stage runs within that one, too: it is fed by them.
    """
    mixed = [False] * len(stages)
    for place in reversed(outermost):
        parent = parents[place]
        if parent is not None:
            mixed[parent] |= mixed[place] or (counts[place] and not _is_foreign_source(stages[place]))
    inner = [False] * len(stages)
    for place in outermost:
        parent = parents[place]
        if parent is not None:
            outer = counts[parent] and not mixed[parent] and _is_foreign_source(stages[parent])
            inner[place] = outer or inner[parent]
        if inner[place] and stages[place].returned is None and _is_foreign_source(stages[place]):
            counts[place] = False


def _is_foreign_source(stage: StageRecord) -> bool:
    return stage.foreign and kinds.is_source(stage)
