"""Findings about the text that the reader was shown: none of any document, or little of a selected or judged one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Severity
from rop_otel.core.handoff.findings.making import finding_at
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.shown_list import UNSEEN, shares_of, tokens_of, visible
from rop_otel.core.handoff.stage_graph import StageGraph

MIN_TOKENS: Final = 8
"""Tokens of a passage below which it is thin, where the handoff does not say."""

WHOLE_SHARE: Final = 0.95
"""Share of a passage's text from which it counts as whole: matching loses a little at its edges."""

_Places = dict[str, list[int]]
"""The places at which text of an object is shown, by object."""

_Amounts = dict[str, float] | None
"""How much of each object is shown; None where that is not known."""


class PassageFinding(FindingCode):
    """What may be wrong with the passages that were shown."""

    THIN_PASSAGE = "thin_passage", Severity.WARNING, "{stage} shows fewer than {least} tokens of {ids}"
    PASSAGE_CUT = "passage_cut", Severity.WARNING, "{stage} shows only a part of what was {which}: {ids}"
    CONTEXT_NOT_IN_PROMPT = (
        "context_not_in_prompt",
        Severity.ERROR,
        "the prompt holds no text of any document that {stage} returned",
    )


def about_passages(
    graph: StageGraph, selected: AbstractSet[str], judged: AbstractSet[str]
) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with what was shown of the documents.

    Args:
        graph: The handoff.
        selected: Its selected objects.
        judged: Its judged ones.
    """
    for place in graph.showing:
        stage = graph.stages[place]
        if stage.basis == UNSEEN:
            yield graph.places[place], finding_at(stage, PassageFinding.CONTEXT_NOT_IN_PROMPT)
    if (selected or judged) and graph.shown.usable:
        yield from _about_objects(graph, selected, judged)


def _about_objects(
    graph: StageGraph, selected: AbstractSet[str], judged: AbstractSet[str]
) -> Iterator[tuple[int, Finding]]:
    places = [place for place in graph.shown.places if graph.stages[place].kind in kinds.SHOWING]
    stages = [graph.stages[place] for place in places]
    if graph.shown.cut or all(stage.id_tokens is None and stage.shares is None for stage in stages):
        return  # what a cut list shows beyond its recorded part may be more of any object
    shown = [_shown_ids(graph, stage, selected | judged) for stage in stages]
    tokens = [_amounts(ids, tokens_of(stage), sum) for ids, stage in zip(shown, stages, strict=True)]
    shares = [_amounts(ids, shares_of(stage), max) for ids, stage in zip(shown, stages, strict=True)]
    least = MIN_TOKENS if graph.record.min_tokens is None else graph.record.min_tokens
    thin, cut = _scarce(shown, tokens, least), _scarce(shown, shares, WHOLE_SHARE)
    for at, (place, stage) in enumerate(zip(places, stages, strict=True)):
        if thin[at]:
            ids = _ids(stage, shown[at], thin[at])
            yield graph.places[place], finding_at(stage, PassageFinding.THIN_PASSAGE, ids=ids, least=least)
        if cut[at]:
            ids = _ids(stage, shown[at], cut[at])
            which = _which(cut[at], selected, judged)
            yield graph.places[place], finding_at(stage, PassageFinding.PASSAGE_CUT, ids=ids, which=which)


def _which(names: Sequence[str], selected: AbstractSet[str], judged: AbstractSet[str]) -> str:
    """Say why objects matter: a part of the selected one is worse than a part of one that is judged."""
    return " or ".join(
        what for what, some in (("selected", selected), ("judged", judged)) if not some.isdisjoint(names)
    )


def _ids(stage: StageRecord, shown: _Places, names: Sequence[str]) -> set[str]:
    returned = stage.returned or ()
    return {returned[place] for name in names for place in shown[name]}


def _shown_ids(graph: StageGraph, stage: StageRecord, objects: AbstractSet[str]) -> _Places:
    """Return the places at which a stage shows text of each object."""
    found: _Places = defaultdict(list)
    for place, (raw, shown) in enumerate(zip(stage.returned or (), visible(stage), strict=True)):
        name = graph.object_of(raw)
        if shown and raw and name in objects:
            found[name].append(place)
    return found


def _amounts(shown: _Places, values: Sequence[float] | None, together: Callable[[Iterable[float]], float]) -> _Amounts:
    """Return how much of each object a stage shows; None where that is not known."""
    if values is None:
        return None
    return {name: together(max(values[place], 0) for place in places) for name, places in shown.items()}


def _scarce(shown: Sequence[_Places], amounts: Sequence[_Amounts], enough: float) -> list[list[str]]:
    """Return for each stage the objects of which it shows too little, and no other one shows, or could show, more."""
    most: dict[str, float] = {}
    for places, known in zip(shown, amounts, strict=True):
        for name in places:
            most[name] = max(most.get(name, 0), math.inf if known is None else known[name])
    return [
        [name for name, amount in (known or {}).items() if 0 < amount < enough and amount >= most[name]]
        for known in amounts
    ]
