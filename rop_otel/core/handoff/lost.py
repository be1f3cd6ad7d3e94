"""Where an object was lost, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Drop, DropCause
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.selection import Wanted
from rop_otel.core.handoff.shown_list import is_cut, list_is_cut
from rop_otel.core.handoff.stage_graph import StageGraph

Holds = Callable[[AbstractSet[str]], bool]
"""Whether a whole list, given as the set of its IDs, has what was lost."""


class Losses:
    """The places at which objects of one handoff may have been lost.

    Args:
        graph: The handoff.
        expected: The stages that it declares.
    """

    def __init__(self, graph: StageGraph, expected: Expected) -> None:
        self.graph = graph
        self._expected = expected
        self._between: dict[int, str | None] = {}

    def after(self, last: int, holds: Holds) -> Drop:
        """Return the loss of what no stage after this one has: at the first stage that it feeds."""
        graph = self.graph
        place = graph.first_fed_by(last)
        if place is None:
            return drop(DropCause.UNUSED)
        stage = graph.stages[place]
        if last not in self._between:
            self._between[last] = self._expected.missing_between(graph.stages[last], stage)
        between = self._between[last]
        if between is not None:
            return Drop(cause=DropCause.UNOBSERVED_STAGE, stage=between)
        if (
            stage.returned is not None
            and graph.has_known_record(place)
            and not holds(graph.given_set(place))
            and not graph.encloses(place, last)
        ):
            return drop(DropCause.SILENT_CUT, stage)
        return drop(_cause_at(stage), stage)

    def nowhere(self, handed_to: int | None) -> Drop:
        """Return the loss of what no list has.

        Args:
            handed_to: The last stage with it in its recorded input, None without one.
        """
        if handed_to is None:
            return self._held_nowhere
        stage = self.graph.stages[handed_to]
        return drop(_cause_at(stage), stage)

    @cached_property
    def _held_nowhere(self) -> Drop:
        stages = [stage for stage in self.graph.stages if stage.kind != kinds.READER]
        unreadable = next((stage for stage in stages if stage.returned is None), None)
        if unreadable is not None:
            return drop(DropCause.UNOBSERVED_STAGE, unreadable)
        missing = next((entry for entry in self._expected.missing if entry != kinds.READER), None)
        if missing is not None:
            return Drop(cause=DropCause.UNOBSERVED_STAGE, stage=missing)
        if any(list_is_cut(stage) or is_cut(stage.input or (), stage.input_count) for stage in stages):
            return drop(DropCause.BEYOND_RECORDED_DEPTH)
        return drop(DropCause.NEVER_RETRIEVED)


def where_lost(losses: Losses, wanted: Wanted, *, ranks: Sequence[int | None]) -> Drop:
    """Return the stage and cause of the loss of a selection.

    Args:
        losses: Of a handoff whose verdict is FAIL.
        wanted: What was lost: the selection or, where every key is needed, one of them.
        ranks: Its rank in each stage's recorded list.
    """
    graph = losses.graph
    shown = [place for place in graph.shown.places if graph.stages[place].kind in kinds.SHOWING]
    holders = list(_holders(graph, wanted, ranks))
    if wanted.holds(frozenset(graph.shown.ids)):
        return _below_cutoff(graph, holders, shown, ranks)
    without_text = [place for place in shown if ranks[place] is not None]
    if without_text:
        return drop(DropCause.NO_TEXT, graph.stages[without_text[-1]])
    if holders:
        return losses.after(max(holders), wanted.holds)
    handed = (
        place
        for place in range(len(graph.stages) - 1, -1, -1)
        if graph.stages[place].input and graph.stages[place].kind != kinds.READER
    )
    return losses.nowhere(next((place for place in handed if wanted.holds(graph.given_set(place))), None))


def drop(cause: DropCause, stage: StageRecord | None = None) -> Drop:
    """Return a loss at a stage, or at none."""
    if stage is None:
        return Drop(cause=cause)
    return Drop(cause=cause, stage=stage.kind, name=stage.name, round=stage.round, span_id=stage.span_id)


def _holders(graph: StageGraph, wanted: Wanted, ranks: Sequence[int | None]) -> Iterator[int]:
    """Yield the stages whose whole list has it; under the rule ``all``, sources that feed one stage together do."""
    seen: set[int] = set()
    for place, stage in enumerate(graph.stages):
        if stage.kind == kinds.READER:
            continue
        if ranks[place] is not None:
            yield place
        arms = graph.feeds[place].sources
        if graph.record.rule == "all" and len(arms) > 1 and id(arms) not in seen:
            seen.add(id(arms))
            if wanted.holds(graph.union(arms)):
                yield arms[-1]


def _below_cutoff(graph: StageGraph, holders: Sequence[int], shown: Sequence[int], ranks: Sequence[int | None]) -> Drop:
    cutoff = graph.record.cutoff or 0
    # What a packing or rescue has that is shown counts by its rank in the shown list, which is past the cutoff.
    past = frozenset(shown)
    above = [
        place
        for place, rank in enumerate(ranks)
        if rank is not None and rank <= cutoff and place not in past and graph.stages[place].kind != kinds.READER
    ]
    place = graph.first_fed_by(above[-1]) if above else min(holders, default=None)
    return drop(DropCause.BELOW_CUTOFF, None if place is None else graph.stages[place])


def _cause_at(stage: StageRecord) -> DropCause:
    if stage.returned is None:
        return DropCause.UNOBSERVED_STAGE
    return DropCause.BEYOND_RECORDED_DEPTH if list_is_cut(stage) else kinds.drop_cause(stage.kind)
