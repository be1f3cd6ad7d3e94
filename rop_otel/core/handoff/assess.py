"""The one function that assesses a handoff; every door calls it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Assessment, Drop, Scores, Shown, StageScores, Verdict
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.findings import find
from rop_otel.core.handoff.findings.about_labels import attach, count_citations
from rop_otel.core.handoff.judged import agreement, joint, judged_losses
from rop_otel.core.handoff.lost import Losses, where_lost
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.run_terms import contradiction, under
from rop_otel.core.handoff.scores import Judgments, judged_scores, selected_scores
from rop_otel.core.handoff.selection import Wanted, first_missing, selection_of
from rop_otel.core.handoff.shown_list import list_is_cut
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.terms import EVERY, at_hand, mode_of
from rop_otel.core.handoff.unverifiable import why_unverifiable
from rop_otel.core.handoff.verdict import selection_arrives, verdict_of
from rop_otel.core.handoff.worth import sources_shown
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened

_NO_SCORES: Final[Scores] = MappingProxyType({})


def assess(record: HandoffRecord, *, resolver: Resolver | None = None, declaration: Opened | None = None) -> Assessment:
    """Return the assessment of one handoff.

    Args:
        record: The facts. Without stages the verdict is ``UNVERIFIABLE`` at best.
        resolver: The resolver in force at this door; None: an ID stands for itself. If the handoff names another
            resolver, nothing is scored and findings compare IDs as they are.
        declaration: The declaration of the run to which the handoff belongs. A valid one has its own resolver, and its
            mode, rule and cutoff count if the handoff does not give them.
    """
    contradicted = declaration is not None and contradiction(record, declaration) is not None
    if declaration is not None:
        record = under(record, declaration)
        resolver = declaration.declaration.resolver if declaration.declaration else resolver
    resolver_at_hand = at_hand(record, resolver)
    in_force = resolver if resolver_at_hand else None
    graph = StageGraph(record, in_force)
    usable = None if contradicted else selection_of(record, in_force)
    judged = Judgments(record.judged, grades=record.grades, resolver=in_force) if record.judged else None
    judged = judged or None
    selection, judgments = (usable, judged) if resolver_at_hand else (None, None)
    ranks = _ranks(graph, selection)
    scored = [_score_stage(graph, place, ranks[place], selection, judgments) for place in range(len(graph.stages))]
    shown, rank = _score_shown(graph, selection, judgments, ranks=ranks, scored=scored)
    verdict = verdict_of(
        record,
        graph.shown,
        selection=selection,
        rank=rank,
        resolver_at_hand=resolver_at_hand,
        contradicted=contradicted,
    )
    arrives = None if selection is None else selection_arrives(record, graph.shown, selection, rank=rank)
    expected = Expected(record.expected, record.stages)
    losses = Losses(graph, expected)
    attachments = attach(graph)
    return Assessment(
        handoff_name=record.name,
        handoff_id=record.handoff_id,
        trace_id=record.trace_id,
        record_id=record.record_id,
        run_id=record.run_id,
        mode=mode_of(record),
        verdict=verdict,
        selected_rank=rank,
        drop=_drop(losses, selection, ranks) if verdict is Verdict.FAIL and selection is not None else None,
        agreement=None if selection is None else agreement(graph, judgments),
        joint=joint(record, graph.shown, judgments, arrives=arrives),
        judged_losses=judged_losses(losses, judgments) if resolver_at_hand else None,
        findings=find(
            graph,
            expected,
            judged=[scores.judged for scores in scored],
            attachments=attachments,
            objects=_objects(graph, usable, judged),
        ),
        stages=tuple(scores for scores in scored if scores.stage != kinds.READER),
        shown=shown,
        sources=sources_shown(graph),
        citations=count_citations(graph, attachments),
        note=why_unverifiable(graph, resolver_at_hand=resolver_at_hand) if verdict is Verdict.UNVERIFIABLE else None,
    )


def _ranks(graph: StageGraph, wanted: Wanted | None) -> list[int | None]:
    """Return the rank of what is wanted in each stage's recorded list."""
    if wanted is None:
        return [None] * len(graph.stages)
    return [
        None if stage.returned is None else wanted.rank(stage.returned, held)
        for stage, held in zip(graph.stages, graph.returned_sets, strict=True)
    ]


def _drop(losses: Losses, selection: Wanted, ranks: Sequence[int | None]) -> Drop:
    """Return the loss of the selection or, where every key is needed, of the first that was lost."""
    graph = losses.graph
    if graph.record.need != EVERY:
        return where_lost(losses, selection, ranks=ranks)
    wanted = first_missing(graph.record, graph.resolver, graph.shown.up_to(graph.record.cutoff))
    return where_lost(losses, wanted, ranks=_ranks(graph, wanted))


def _objects(
    graph: StageGraph, selection: Wanted | None, judgments: Judgments | None
) -> tuple[AbstractSet[str], AbstractSet[str]]:
    """Return the selected objects, and the judged ones."""
    selected = () if selection is None else graph.record.selected or ()
    return {*map(graph.object_of, selected)}, {*(judgments.first_raws if judgments else ())}


def _score_stage(
    graph: StageGraph, place: int, rank: int | None, selection: Wanted | None, judgments: Judgments | None
) -> StageScores:
    stage, held = graph.stages[place], graph.returned_sets[place]
    returned, present = None, None
    selected, judged = _NO_SCORES, _NO_SCORES
    if stage.returned is not None and held is not None and stage.kind != kinds.READER:
        cut, returned = list_is_cut(stage), stage.true_count
        if selection is not None:
            present = None if cut and rank is None else rank is not None
            selected = selected_scores(rank, depth=len(stage.returned), cut=cut)
        if judgments is not None:
            judged = judged_scores(judgments, stage.returned, held=held, cut=cut)
    return StageScores(
        stage=stage.kind,
        name=stage.name,
        round=stage.round,
        returned=returned,
        present=present,
        implementation=stage.implementation,
        fallback=stage.fallback,
        query_form=stage.query_form,
        selected=selected,
        judged=judged,
    )


def _score_shown(
    graph: StageGraph,
    selection: Wanted | None,
    judgments: Judgments | None,
    *,
    ranks: Sequence[int | None],
    scored: Sequence[StageScores],
) -> tuple[Shown, int | None]:
    shown = graph.shown
    if not shown.usable:
        return Shown(), None
    ids, place = shown.known_ids, shown.places[0]
    if ids is graph.stages[place].returned and len(shown.places) == 1:
        return Shown(ids=ids, basis=shown.basis, selected=scored[place].selected, judged=scored[place].judged), ranks[
            place
        ]
    held = frozenset(ids)
    rank = selection.rank(ids, held) if selection else None
    selected = selected_scores(rank, depth=len(ids), cut=shown.cut) if selection else {}
    judged = judged_scores(judgments, ids, held=held, cut=shown.cut) if judgments else {}
    return Shown(ids=ids, basis=shown.basis, selected=selected, judged=judged), rank
