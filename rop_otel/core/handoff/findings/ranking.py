"""Findings about what a stage did to the ranking: the best was cut, expansion displaced it, fusion is below an arm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Scores, Severity
from rop_otel.core.handoff.findings.making import finding_at, quoted
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.trip import Trip, list_is_cut
from rop_otel.core.measures import RECALL


class _Scored(NamedTuple):
    """The list of a stage with scores.

    Args:
        best: The first ID with the highest score, empty where there is none.
        score_of: Score by ID.
    """

    best: str
    score_of: dict[str, float]


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


def about_ranking(trip: Trip, judged: Sequence[Scores]) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that a stage did to the ranking.

    Args:
        trip: The handoff.
        judged: Judged scores of each stage, empty where nothing is scored.
    """
    scored: dict[int, _Scored] = {}
    for place, stage in enumerate(trip.stages):
        if stage.kind == kinds.FUSION:
            yield from _fusion_below_arm(trip, place, judged)
        if stage.returned is None or list_is_cut(stage):
            continue
        if stage.kind in kinds.CUTTING or (kinds.is_custom(stage) and not kinds.is_source(stage)):
            yield from _top_ranked_cut(trip, place, scored)
        if stage.kind == kinds.PACKING:
            yield from _expansion_displaced(trip, place)


def _top_ranked_cut(trip: Trip, place: int, scored: dict[int, _Scored]) -> Iterator[tuple[int, Finding]]:
    stage, returned, handed = trip.stages[place], trip.returned_set(place), trip.input_set(place)
    if returned is None or handed is None or handed <= returned:
        return
    before = trip.latest_before(place, _settles_the_best)
    if before is None or not _is_scored(trip.stages[before]):
        return
    found = scored.get(before)
    if found is None:
        found = scored[before] = _scored(trip.stages[before])
    best, score_of = found
    if not best or best not in handed or best in returned:
        return
    if any(score_of[raw] < score_of[best] for raw in returned & handed if raw and raw in score_of):
        scorer = trip.stages[before].kind
        yield place, finding_at(stage, RankingFinding.TOP_RANKED_CUT, ids=[best], scored=scorer)


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


def _expansion_displaced(trip: Trip, place: int) -> Iterator[tuple[int, Finding]]:
    handed, kept = trip.input_set(place), trip.returned_set(place)
    if handed is None or kept is None or handed <= kept:
        return
    expansion = trip.latest_before(place, _is_expansion)
    if expansion is None:
        return
    before, after = trip.input_set(expansion), trip.returned_set(expansion)
    if before is None or after is None:
        return
    dropped = {raw for raw in (before & handed) - kept if raw}
    added = {raw for raw in (after & kept) - before if raw} if dropped else set()
    added = {raw for raw in added if trip.first_returned(raw) >= expansion}
    if added:
        found = RankingFinding.EXPANSION_DISPLACED
        yield place, finding_at(trip.stages[place], found, ids=dropped, added=quoted(added))


def _fusion_below_arm(trip: Trip, place: int, judged: Sequence[Scores]) -> Iterator[tuple[int, Finding]]:
    cutoff = RECALL.ks[-1] if trip.record.cutoff is None else trip.record.cutoff
    measure = next((RECALL.at(k) for k in RECALL.ks if k >= cutoff), "")
    arms = [feed for feed in trip.feeds[place] if kinds.is_source(trip.stages[feed])]
    if not arms or not measure or any(measure not in judged[scored] for scored in (*arms, place)):
        return
    best = max(arms, key=lambda arm: judged[arm][measure])
    if judged[place][measure] < judged[best][measure]:
        own, arm, stages = judged[place][measure], judged[best][measure], trip.stages
        code = RankingFinding.FUSION_BELOW_ARM
        yield place, finding_at(stages[place], code, measure=measure, own=own, best=arm, arm=stages[best].kind)
