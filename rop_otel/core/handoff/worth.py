"""What each source is worth: which of the shown IDs it returned, and which of them no other source did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import SourceShown
from rop_otel.core.handoff.stage_graph import NO_IDS, StageGraph

_Arms = Mapping[tuple[str, str | None], Sequence[int]]
"""The places of each source's executions, by its kind and name."""


def sources_shown(graph: StageGraph) -> tuple[SourceShown, ...]:
    """Return what each source is worth, by kind and name, in order; a source that ran several times counts once.

    A source that runs another one, or runs inside it, is not an "other source" for it. Empty if the shown list is not
    usable.
    """
    if not graph.shown.usable:
        return ()
    shown, arms = _shown(graph), _arms(graph)
    in_order: Sequence[int] = ()
    if graph.nested:
        in_order = graph.regions.in_order(chain.from_iterable(arms.values()))
    if any(graph.encloses(place, after) for place, after in pairwise(in_order)):
        counts = _within_each_other(graph, arms, shown, in_order)
    else:
        counts = _side_by_side(graph, arms, shown)
    return tuple(
        SourceShown(stage=kind, name=name, shown=found, only=only)
        for (kind, name), (found, only) in zip(arms, counts, strict=True)
    )


def _shown(graph: StageGraph) -> frozenset[str]:
    """Return the known shown IDs that could be read; a single list's own set is not copied."""
    ids, place = graph.shown.known_ids, graph.shown.places[0]
    known = graph.returned_sets[place] if ids is graph.stages[place].returned else None
    shown = frozenset(ids) if known is None else known
    return shown - {""} if "" in shown else shown


def _arms(graph: StageGraph) -> _Arms:
    """Return the sources, and what stands for one that wraps it and is fed by nothing."""
    standing = set(chain.from_iterable(graph.parallel))
    arms: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
    for place, stage in enumerate(graph.stages):
        if kinds.is_source(stage) or (place in standing and not graph.feeds[place].places):
            arms[stage.kind, stage.name].append(place)
    return arms


def _side_by_side(graph: StageGraph, arms: _Arms, shown: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Give how many shown IDs each source returned, and how many of them alone."""
    found = [shown & graph.union(places) for places in arms.values()]
    seen, repeated = set[str](), set[str]()
    for ids in found:
        repeated |= seen & ids
        seen |= ids
    for ids in found:
        yield len(ids), len(ids - repeated)


def _within_each_other(
    graph: StageGraph, arms: _Arms, shown: frozenset[str], in_order: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Give the same where sources enclose others.

    Of the sources that returned an ID, those count that enclose no other of them: whatever encloses one of them is
    around it. So a source is the only one where all of these are its own, or inside it.
    """
    arm_of = {place: arm for arm, places in enumerate(arms.values()) for place in places}
    returned_by: defaultdict[str, list[int]] = defaultdict(list)
    for place in in_order:
        for raw in shown & (graph.returned_sets[place] or NO_IDS):
            returned_by[raw].append(place)
    counts = [[0, 0] for _ in arms]
    for places in returned_by.values():
        own: defaultdict[int, list[int]] = defaultdict(list)
        for place in places:
            outer = own[arm_of[place]]
            if not outer or not graph.encloses(outer[-1], place):
                outer.append(place)
        last = {place for place, after in pairwise(places) if not graph.encloses(place, after)} | {places[-1]}
        starts = graph.regions.starts_of(last)
        for arm, outer in own.items():
            within = sum((place in last) + graph.regions.count_within(place, starts) for place in outer)
            counts[arm][0] += 1
            counts[arm][1] += within == len(last)
    yield from map(tuple, counts)
