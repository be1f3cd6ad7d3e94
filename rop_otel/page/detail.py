"""One handoff as the page shows it: all that replay says of it, and what draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from rop_otel.core.handoff import Assessment, Drop, DropCause, HandoffRecord
from rop_otel.core.handoff.advice import CAUSES, FINDING_WORDS
from rop_otel.core.handoff.findings.about_passages import WHOLE_SHARE
from rop_otel.core.handoff.findings.making import named, quoted
from rop_otel.core.handoff.label_map import label_map
from rop_otel.core.handoff.run_terms import contradiction, under
from rop_otel.core.handoff.shown_list import shares_of, visible
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.stage_lists import listed
from rop_otel.core.handoff.terms import at_hand
from rop_otel.core.handoff.written import handoff_as_dict
from rop_otel.page.assessed_set import AssessedSet
from rop_otel.page.copied_test import copied_test
from rop_otel.page.document import duration_of, start_of
from rop_otel.page.recorded_spans import groups_of
from rop_otel.page.stage_detail import Placed, placed_stages


def detail(shown: AssessedSet, place: int) -> dict[str, Any]:
    """Return one handoff of a set.

    Args:
        shown: The set.
        place: Which handoff of it, from 0.
    """
    assessment, record = shown.assessments[place], shown.records[place]
    contradicted = False
    if shown.declaration is not None and record.handoff_id in shown.declared:
        contradicted = contradiction(record, shown.declaration) is not None
        record = under(record, shown.declaration)
    resolver = shown.resolver if at_hand(record, shown.resolver) else None
    graph = StageGraph(record, resolver)
    lists = listed(graph)
    handoff = handoff_as_dict(assessment, record, lists, with_ids=True)
    stages = placed_stages(graph, zip(handoff["stages"], lists, strict=True), shown.carried)
    handoff["stages"] = [stage.as_dict for stage in stages]
    handoff["findings"] = [
        {
            **finding.as_dict(),
            "try": FINDING_WORDS[finding.code].advice,
            "place": _place(stages, finding.span_id),
        }
        for finding in assessment.findings
    ]
    if assessment.judged_losses is not None:
        handoff["judged_losses"] = [
            {**loss.as_dict(), **_lost(loss.drop, (loss.id,), stages)} for loss in assessment.judged_losses
        ]
    question = shown.carried.query(record.trace_id, record.span_id)
    return {
        **handoff,
        **({} if question is None else {"question": question}),
        "note": assessment.note,
        "service": shown.carried.service(record.trace_id, record.span_id),
        "start": start_of(record),
        "duration": duration_of(record),
        "cutoff": record.cutoff,
        "rule": record.rule or "any",
        "need": record.need or "one",
        "scope": record.scope_id,
        "failed": record.failed,
        "loss": _loss(assessment, record, stages),
        "selected_ids": _of_objects(graph, record.selected),
        "judged_ids": _of_objects(graph, _relevant(record)),
        "shown": {**assessment.shown.as_dict(), "hollow": _hollow(graph), "places": _at(stages, graph)},
        "labels": [
            {**row._asdict(), "reader": None if row.reader is None else _now(stages, row.reader)}
            for row in label_map(graph)
        ],
        "test": None if contradicted else copied_test(record, assessment, resolver),
        "spans": groups_of(shown.records[place], shown.carried),
    }


def _loss(assessment: Assessment, record: HandoffRecord, stages: Sequence[Placed]) -> dict[str, Any] | None:
    if assessment.drop is None:
        return None
    return {"cause": assessment.drop.cause.value, **_lost(assessment.drop, record.selected or (), stages)}


def _lost(drop: Drop, ids: Iterable[str], stages: Sequence[Placed]) -> dict[str, Any]:
    """Return where something was lost: the place of its stage, a sentence, and what to try."""
    words = CAUSES[drop.cause]
    way = "on the way to" if drop.cause is DropCause.SILENT_CUT else "at"
    at = "" if drop.stage is None else f" {way} {named(drop.name or drop.stage)}"
    return {
        "place": _place(stages, drop.span_id),
        "says": f"{quoted(ids)} was lost{at}. {words.says}",
        "try": words.advice,
    }


def _place(stages: Sequence[Placed], span_id: str | None) -> int | None:
    """Return the place of the stage with a span; None where there is none."""
    return None if span_id is None else next((at for at, each in enumerate(stages) if each.span_id == span_id), None)


def _now(stages: Sequence[Placed], place: int) -> int | None:
    return next((at for at, each in enumerate(stages) if each.place == place), None)


def _at(stages: Sequence[Placed], graph: StageGraph) -> list[int]:
    now = {each.place: at for at, each in enumerate(stages)}
    return [now[place] for place in graph.shown.places]


def _of_objects(graph: StageGraph, keys: Iterable[str] | None) -> list[str]:
    """Return the IDs in any list that belong to the objects of some keys, in order."""
    objects = {graph.object_of(key) for key in keys or () if key}
    if not objects:
        return []
    lists = chain.from_iterable((stage.input or (), stage.returned or ()) for stage in graph.stages)
    return [raw for raw in dict.fromkeys(chain.from_iterable(lists)) if graph.object_of(raw) in objects]


def _relevant(record: HandoffRecord) -> list[str]:
    grades: Mapping[int, int] = dict(enumerate(record.grades))
    return [key for place, key in enumerate(record.judged or ()) if key and grades.get(place, 1) > 0]


def _hollow(graph: StageGraph) -> list[bool]:
    """Return for each shown ID whether only a part of its text was seen."""
    hollow: list[bool] = []
    for place in graph.shown.places:
        stage = graph.stages[place]
        shares = shares_of(stage) or [1.0] * len(stage.returned or ())
        showing = place in graph.showing
        seen = visible(stage) if showing else [True] * len(shares)
        hollow += [showing and share < WHOLE_SHARE for share, there in zip(shares, seen, strict=True) if there]
    return hollow[: len(graph.shown.known_ids)]
