"""Findings about what a stage did to the ranking: the best was cut, expansion displaced it, fusion is below an arm."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Scores, Severity
from rop_otel.core.handoff.findings.making import finding_at, quoted
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.shown_list import list_is_cut
from rop_otel.core.handoff.stage_graph import NO_IDS, StageGraph
from rop_otel.core.measures import RECALL


class _Scored(NamedTuple):
    """The list of a stage with scores.

    Args:
        best: The first ID with the highest score, empty where there is none.
        score_of: Score by ID.
    """

    best: str
    score_of: dict[str, float]


class _Added:
    """What expansions added.

    Args:
        graph: The handoff.
    """

    def __init__(self, graph: StageGraph) -> None:
        self._graph = graph
        self._by: dict[int, frozenset[str]] = {}
        self._starts: dict[str, list[int]] = {}

    def by(self, expansion: int) -> frozenset[str]:
        """Return what is in an expansion's list, not in its known input, and in no earlier list but those within it."""
        found = self._by.get(expansion)
        if found is None:
            graph = self._graph
            new = (graph.returned_sets[expansion] or NO_IDS) - (graph.input_set(expansion) or NO_IDS)
            found = frozenset(raw for raw in new if raw and self._is_new(raw, expansion))
            self._by[expansion] = found
        return found

    def _is_new(self, raw: str, expansion: int) -> bool:
        earlier = bisect_left(self._returned_by[raw], expansion)
        if not earlier or expansion not in self._graph.within:
            return not earlier
        regions, starts = self._graph.regions, self._starts.get(raw)
        if starts is None:
            starts = self._starts[raw] = regions.starts_of(self._returned_by[raw])
        return earlier == regions.count_within(expansion, starts)

    @cached_property
    def _returned_by(self) -> dict[str, list[int]]:
        """The places of the stages that returned each ID, ascending."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for place in range(len(self._graph.stages)):
            for raw in self._graph.returned_sets[place] or ():
                found[raw].append(place)
        return found


class RankingFinding(FindingCode):
    """What a stage may have done to the ranking."""

    TOP_RANKED_CUT = (
        "top_ranked_cut",
        Severity.ERROR,
        "{stage} dropped {ids}, the best-scored of {scored}, and kept worse ones",
    )
    EXPANSION_DISPLACED = (
        "expansion_displaced",
        Severity.ERROR,
        "{stage} dropped {ids} and kept {added}, which expansion had added",
    )
    FUSION_BELOW_ARM = (
        "fusion_below_arm",
        Severity.INFO,
        "{stage}'s judged {measure} of {own:.3f} is below the {best:.3f} of its arm {arm}",
    )


def about_ranking(graph: StageGraph, judged: Sequence[Scores]) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that a stage did to the ranking.

    Args:
        graph: The handoff.
        judged: Judged scores of each stage, empty where nothing is scored.
    """
    scored: dict[int, _Scored] = {}
    added = _Added(graph)
    for place, stage in enumerate(graph.stages):
        found = None
        if stage.kind == kinds.FUSION:
            found = _fusion_below_arm(graph, place, judged)
        elif stage.returned is None or list_is_cut(stage):
            continue
        elif stage.kind in kinds.CUTTING or (kinds.is_custom(stage) and not kinds.is_source(stage)):
            found = _top_ranked_cut(graph, place, scored)
        if found is not None:
            yield graph.places[place], found
        if stage.kind == kinds.PACKING and (displaced := _expansion_displaced(graph, place, added)):
            yield graph.places[place], displaced


def _top_ranked_cut(graph: StageGraph, place: int, scored: dict[int, _Scored]) -> Finding | None:
    stage, returned, handed = graph.stages[place], graph.returned_sets[place], graph.input_set(place)
    if returned is None or handed is None or handed <= returned:
        return None
    before = graph.latest_before(place, _settles_the_best)
    if before is None or not _is_scored(graph.stages[before]):
        return None
    found = scored.get(before)
    if found is None:
        found = scored[before] = _scored(graph.stages[before])
    best, score_of = found
    if not best or best not in handed or best in returned:
        return None
    if not any(score_of[raw] < score_of[best] for raw in returned & handed if raw and raw in score_of):
        return None
    return finding_at(stage, RankingFinding.TOP_RANKED_CUT, ids=[best], scored=graph.stages[before].kind)


def _settles_the_best(stage: StageRecord) -> bool:
    return _is_scored(stage) or stage.kind in kinds.RESCORING


def _is_scored(stage: StageRecord) -> bool:
    return bool(stage.returned) and stage.scores is not None and len(stage.scores) == len(stage.returned or ())


def _is_expansion(stage: StageRecord) -> bool:
    return stage.kind == kinds.EXPANSION


def _scored(stage: StageRecord) -> _Scored:
    """Return a scored list by ID: the highest score of a repeated one counts, in the order of those places."""
    score_of: dict[str, float] = {}
    for raw, score in zip(stage.returned or (), stage.scores or (), strict=True):
        if math.isnan(score) or (raw in score_of and score <= score_of[raw]):
            continue
        score_of.pop(raw, None)
        score_of[raw] = score
    return _Scored(max(score_of, key=score_of.__getitem__, default=""), score_of)


def _expansion_displaced(graph: StageGraph, place: int, added: _Added) -> Finding | None:
    handed, kept = graph.input_set(place), graph.returned_sets[place]
    if handed is None or kept is None or handed <= kept:
        return None
    expansion = graph.latest_before(place, _is_expansion)
    before = None if expansion is None else graph.input_set(expansion)
    if expansion is None or before is None:
        return None
    dropped = {raw for raw in (before & handed) - kept if raw}
    new = added.by(expansion) & kept if dropped else frozenset()
    if not new:
        return None
    return finding_at(graph.stages[place], RankingFinding.EXPANSION_DISPLACED, ids=dropped, added=quoted(new))


def _fusion_below_arm(graph: StageGraph, place: int, judged: Sequence[Scores]) -> Finding | None:
    cutoff = RECALL.ks[-1] if graph.record.cutoff is None else graph.record.cutoff
    measure = next((RECALL.at(k) for k in RECALL.ks if k >= cutoff), "")
    arms = graph.feeds[place].sources
    if not arms or not measure or any(measure not in judged[scored] for scored in (*arms, place)):
        return None
    best = max(arms, key=lambda arm: judged[arm][measure])
    own, arm, stages = judged[place][measure], judged[best][measure], graph.stages
    if own >= arm:
        return None
    code = RankingFinding.FUSION_BELOW_ARM
    return finding_at(stages[place], code, measure=measure, own=own, best=arm, arm=stages[best].kind)
