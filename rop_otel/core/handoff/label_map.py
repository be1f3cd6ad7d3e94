"""What became of each citation label of a handoff: shown, attached, cited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.findings.about_labels import Attachment, attach, outcome_of, pairs_of
from rop_otel.core.handoff.stage_graph import StageGraph


class LabelRow(NamedTuple):
    """One label, as one reader has it.

    Args:
        label: The label.
        shown: The first ID that was shown under it; None where none was, or where it could not be read.
        attached: The ID that it resolves to in the response; None where there is none.
        cited: Whether the answer cites it.
        outcome: What it leads to, as citations are counted; None where that is not known, or where it need not resolve.
        reader: Place of the reader; None where no reader's labels can be checked.
    """

    label: str
    shown: str | None
    attached: str | None
    cited: bool
    outcome: str | None
    reader: int | None


def label_map(graph: StageGraph) -> tuple[LabelRow, ...]:
    """Return the labels of a handoff: those that were shown, in order, then those that were only cited or attached."""
    attached = attach(graph)
    if attached:
        return tuple(row for place, attachment in attached for row in _rows(graph, place, attachment))
    shown: dict[str, str] = {}
    for place in graph.shown.places:
        if graph.stages[place].kind in kinds.SHOWING:
            for label, raw in pairs_of(graph.stages[place]) or ():
                shown.setdefault(label, raw)
    return tuple(LabelRow(label, raw or None, None, False, None, None) for label, raw in shown.items())


def _rows(graph: StageGraph, place: int, attachment: Attachment) -> Iterator[LabelRow]:
    shown, sources = attachment.labels.shown, attachment.sources or {}
    cited = dict.fromkeys(graph.stages[place].citations or ())
    for label in dict.fromkeys((*shown, *cited, *sources)):
        counts = label in cited or label in sources or (label in shown and label in attachment.due)
        known = counts and (label in shown or label in cited)
        yield LabelRow(
            label,
            shown.get(label) or None,
            sources.get(label) or None,
            label in cited,
            outcome_of(graph, label, attachment) if known else None,
            place,
        )
