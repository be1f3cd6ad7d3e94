"""The one function that judges a handoff; every door calls it."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Assessment, Drop, Shown, StageScores, Verdict
from rop_otel.core.handoff.declaring import contradiction, under
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.findings import find
from rop_otel.core.handoff.findings.labels import attach, count_citations
from rop_otel.core.handoff.lost import where_lost
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.scores import Judgments, judged_scores, selected_scores
from rop_otel.core.handoff.trip import Trip, list_is_cut
from rop_otel.core.handoff.unverifiable import why_unverifiable
from rop_otel.core.handoff.verdict import at_hand, membership_of, mode_of, shown_holds, verdict_of
from rop_otel.core.profile import Membership, Resolver
from rop_otel.core.profile.declaration import Opened


def assess(record: HandoffRecord, *, resolver: Resolver | None = None, declaration: Opened | None = None) -> Assessment:
    """Return everything that can be concluded about one handoff.

    Args:
        record: The facts. Without stages the verdict is ``UNVERIFIABLE`` at best.
        resolver: The resolver in force at this door; None: an ID stands for itself. Where the handoff names another
            one, nothing is scored and findings compare IDs as they are.
        declaration: The declaration of the run that the handoff belongs to. A valid one brings its own resolver, and
            decides mode, rule and cutoff where the handoff leaves them open.
    """
    contradicted = declaration is not None and contradiction(record, declaration) is not None
    if declaration is not None:
        record = under(record, declaration)
        resolver = declaration.declaration.resolver if declaration.declaration else resolver
    resolver_at_hand = at_hand(record, resolver)
    in_force = resolver if resolver_at_hand else None
    trip = Trip(record, in_force)
    membership = membership_of(record, in_force) if resolver_at_hand and not contradicted else None
    judgments = _judgments(record, in_force) if resolver_at_hand else None
    ranks = [_rank(trip, place, membership) for place in range(len(trip.stages))]
    scored = [_score_stage(trip, place, ranks[place], membership, judgments) for place in range(len(trip.stages))]
    shown, rank = _score_shown(trip, membership, judgments, ranks=ranks, scored=scored)
    verdict = verdict_of(
        record,
        trip.shown,
        membership=membership,
        rank=rank,
        resolver_at_hand=resolver_at_hand,
        contradicted=contradicted,
    )
    expected = Expected(record.expected, record.stages)
    drop: Drop | None = None
    if verdict is Verdict.FAIL and membership is not None:
        held = shown_holds(trip.shown, membership, rank=rank)
        drop = where_lost(trip, membership, expected, ranks=ranks, shown_holds=held)
    attachments = attach(trip)
    return Assessment(
        handoff_name=record.name,
        handoff_id=record.handoff_id,
        trace_id=record.trace_id,
        record_id=record.record_id,
        run_id=record.run_id,
        mode=mode_of(record),
        verdict=verdict,
        selected_rank=rank,
        drop=drop,
        findings=find(trip, expected, judged=[scores.judged for scores in scored], attachments=attachments),
        stages=tuple(scores for scores in scored if scores.stage != kinds.READER),
        shown=shown,
        citations=count_citations(trip, attachments),
        note=why_unverifiable(trip, resolver_at_hand=resolver_at_hand) if verdict is Verdict.UNVERIFIABLE else None,
    )


def _judgments(record: HandoffRecord, resolver: Resolver | None) -> Judgments | None:
    return Judgments(record.judged, grades=record.grades, resolver=resolver) if record.judged else None


def _rank(trip: Trip, place: int, membership: Membership | None) -> int | None:
    ids, held = trip.stages[place].returned, trip.returned_set(place)
    return None if membership is None or ids is None else membership.rank(ids, held)


def _score_stage(
    trip: Trip, place: int, rank: int | None, membership: Membership | None, judgments: Judgments | None
) -> StageScores:
    stage, held = trip.stages[place], trip.returned_set(place)
    if stage.returned is None or held is None or stage.kind == kinds.READER:
        return StageScores(stage=stage.kind, name=stage.name, round=stage.round)
    cut = list_is_cut(stage)
    return StageScores(
        stage=stage.kind,
        name=stage.name,
        round=stage.round,
        returned=stage.true_count,
        present=None if membership is None or (cut and rank is None) else rank is not None,
        selected=selected_scores(rank, depth=len(stage.returned), cut=cut) if membership else {},
        judged=judged_scores(judgments, stage.returned, held=held, cut=cut) if judgments else {},
    )


def _score_shown(
    trip: Trip,
    membership: Membership | None,
    judgments: Judgments | None,
    *,
    ranks: Sequence[int | None],
    scored: Sequence[StageScores],
) -> tuple[Shown, int | None]:
    if not trip.shown.usable:
        return Shown(), None
    ids, cut, place = trip.shown.known_ids, trip.shown.cut, trip.shown.places[0]
    if ids is trip.stages[place].returned and len(trip.shown.places) == 1:
        return Shown(ids=ids, selected=scored[place].selected, judged=scored[place].judged), ranks[place]
    held = frozenset(ids)
    rank = membership.rank(ids, held) if membership else None
    selected = selected_scores(rank, depth=len(ids), cut=cut) if membership else {}
    judged = judged_scores(judgments, ids, held=held, cut=cut) if judgments else {}
    return Shown(ids=ids, selected=selected, judged=judged), rank
