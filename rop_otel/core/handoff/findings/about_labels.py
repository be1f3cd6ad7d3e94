"""Findings about citation labels: what the reader was shown under one, and what it resolves to in the response."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import CitationCounts, Finding, FindingCode, Severity
from rop_otel.core.handoff.findings.making import finding_at
from rop_otel.core.handoff.record import StageRecord
from rop_otel.core.handoff.shown_list import list_is_cut, visible
from rop_otel.core.handoff.stage_graph import StageGraph

CITED: Final = "cited"
"""What a reader attaches that attaches only what its answer cites."""

OBJECT: Final = "object"
"""The scope of labels that stand for an object each."""

Labels = Mapping[str, str]
"""Label to ID."""


class LabelFinding(FindingCode):
    """What may be wrong with citation labels."""

    LABELS_MALFORMED = "labels_malformed", Severity.ERROR, "{stage} gave {given} labels for {returned} IDs"
    LABEL_DUPLICATE = (
        "label_duplicate",
        Severity.ERROR,
        "{stage} shows other chunks under the labels {labels}, which were taken already",
    )
    LABEL_UNATTACHED = (
        "label_unattached",
        Severity.ERROR,
        "the labels {labels} resolve to nothing in the response's sources",
    )
    LABEL_MISATTRIBUTED = (
        "label_misattributed",
        Severity.ERROR,
        "the labels {labels} resolve to other chunks than the reader was shown",
    )
    CITATION_UNRESOLVED = "citation_unresolved", Severity.ERROR, "the answer cites {labels}, which was not shown"


class RoundLabels(NamedTuple):
    """What one round showed under labels.

    Args:
        shown: Label to the first ID shown with it, in order; an ID may be unreadable.
        usable: Whether every stage that shows anything has usable labels and an uncut list.
    """

    shown: Labels
    usable: bool


class Attachment(NamedTuple):
    """What the labels of a round resolve to in one reader's response.

    Args:
        labels: The round's labels.
        sources: Label to attached ID; None where nothing is known to be attached.
        complete: Whether a label that is not in ``sources`` resolves to nothing for certain.
        due: The shown labels that have to resolve: all or, where only what is cited is attached, the cited ones.
    """

    labels: RoundLabels
    sources: Labels | None
    complete: bool
    due: Collection[str]


def about_labels(graph: StageGraph, attachments: Sequence[tuple[int, Attachment]]) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with labels.

    Args:
        graph: The handoff.
        attachments: As :func:`attach` gives them.
    """
    for place, stage in enumerate(graph.stages):
        if _malformed(stage):
            given, returned = len(stage.labels or ()), len(stage.returned or ())
            yield graph.places[place], finding_at(stage, LabelFinding.LABELS_MALFORMED, given=given, returned=returned)
    yield from _duplicates(graph)
    for place, attachment in attachments:
        yield from (
            (graph.places[place], finding) for finding in _against_reader(graph, graph.stages[place], attachment)
        )


def attach(graph: StageGraph) -> list[tuple[int, Attachment]]:
    """Return the place of each reader whose labels can be checked, with what they resolve to."""
    readers = [place for place, stage in enumerate(graph.stages) if stage.kind == kinds.READER]
    listed = _shown_stages(graph)
    if not readers or not listed:
        return []
    showing = [stage for stage in listed if _shows_anything(stage)]
    rounds: dict[int | None, list[StageRecord]] = {}
    for stage in showing:
        rounds.setdefault(stage.round, []).append(stage)
    read = {number: _round_labels(stages) for number, stages in rounds.items()}
    last = read[showing[-1].round] if showing else RoundLabels({}, usable=True)
    attached: list[tuple[int, Attachment]] = []
    for place in readers:
        own_round = graph.stages[place].round
        labels = last if own_round is None else read.get(own_round, last)
        if labels.usable:
            attached.append((place, _attach(labels, graph.stages[place])))
    return attached


def count_citations(graph: StageGraph, attachments: Sequence[tuple[int, Attachment]]) -> CitationCounts:
    """Count the citations of the answers by what their label resolves to; what is not known is not counted."""
    if not attachments:
        return CitationCounts()
    counts = dict.fromkeys(CitationCounts.__dataclass_fields__, 0)
    for place, attachment in attachments:
        for label in graph.stages[place].citations or ():
            outcome = outcome_of(graph, label, attachment)
            if outcome is not None:
                counts[outcome] += 1
    return CitationCounts(**counts)


def outcome_of(graph: StageGraph, label: str, attachment: Attachment) -> str | None:
    """Return what a citation of a label is: one of the fields of :class:`CitationCounts`, None where nobody knows."""
    if label not in attachment.labels.shown:
        return "unresolved"
    shown = attachment.labels.shown[label]
    if attachment.sources is None or not shown:
        return None
    if label not in attachment.sources:
        return "unattached" if attachment.complete else None
    attached = attachment.sources[label]
    if not attached:
        return None
    return "resolved" if _match(graph, shown, attached) else "misattributed"


def _match(graph: StageGraph, one: str, other: str) -> bool:
    """Return whether two IDs match: equal, or of one object and one of them is not a member, or any of it will do."""
    if one == other:
        return True
    resolver = graph.resolver
    owner = None if resolver is None else resolver.resolve(one)
    if resolver is None or owner is None or owner != resolver.resolve(other):
        return False
    return graph.record.label_scope == OBJECT or not (resolver.is_member(one) and resolver.is_member(other))


def _malformed(stage: StageRecord) -> bool:
    if stage.labels is None or stage.returned is None or stage.kind not in kinds.LABELLING:
        return False
    if stage.kind == kinds.READER and not stage.labels:
        return False
    return len(stage.labels) != len(stage.returned)


def pairs_of(stage: StageRecord) -> list[tuple[str, str]] | None:
    """Return each label and ID shown with it, None where the labels are not usable."""
    ids, labels = stage.returned, stage.labels
    if ids is None or labels is None or len(labels) != len(ids):
        return None
    pairs = zip(labels, ids, strict=True)
    return list(pairs) if stage.id_tokens is None and stage.shares is None else list(compress(pairs, visible(stage)))


def _shown_stages(graph: StageGraph) -> list[StageRecord]:
    return [graph.stages[place] for place in graph.shown.places if graph.stages[place].kind in kinds.SHOWING]


def _shows_anything(stage: StageRecord) -> bool:
    """Return whether a stage shows anything, or may do so where that is not known."""
    return stage.returned is None or list_is_cut(stage) or any(visible(stage))


def _round_labels(stages: Sequence[StageRecord]) -> RoundLabels:
    shown: dict[str, str] = {}
    usable = True
    for stage in stages:
        pairs = pairs_of(stage)
        usable = usable and pairs is not None and not list_is_cut(stage)
        for label, raw in pairs or ():
            shown.setdefault(label, raw)
    return RoundLabels(shown, usable)


def _duplicates(graph: StageGraph) -> Iterator[tuple[int, Finding]]:
    firsts: dict[int | None, dict[str, str]] = {}
    for place in graph.shown.places:
        stage = graph.stages[place]
        if stage.kind not in kinds.SHOWING:
            continue
        pairs = pairs_of(stage) or []
        first = firsts.get(stage.round)
        if first is None:
            first = firsts[stage.round] = dict(reversed(pairs))
            if len(first) == len(pairs):
                continue
        # An unreadable document that was shown first is not known to be another one.
        again = [
            (label, raw) for label, raw in pairs if raw and not _match(graph, first.setdefault(label, raw) or raw, raw)
        ]
        if again:
            labels = {label for label, _ in again}
            ids = {raw for _, raw in again} | {first[label] for label in labels}
            yield graph.places[place], finding_at(stage, LabelFinding.LABEL_DUPLICATE, ids=ids, labels=labels)


def _attach(labels: RoundLabels, reader: StageRecord) -> Attachment:
    due: Collection[str] = labels.shown
    if reader.attaches == CITED:
        due = [label for label in dict.fromkeys(reader.citations or ()) if label in labels.shown]
    if reader.returned is None or _malformed(reader):
        return Attachment(labels, None, complete=False, due=due)
    sources: dict[str, str] = {}
    for label, raw in zip(reader.labels or due, reader.returned, strict=False):
        sources.setdefault(label, raw)
    return Attachment(labels, sources, complete=not list_is_cut(reader), due=due)


def _against_reader(graph: StageGraph, reader: StageRecord, attachment: Attachment) -> Iterator[Finding]:
    shown, sources = attachment.labels.shown, attachment.sources
    if sources is not None:
        loose = {}
        if attachment.complete:
            loose = {label: shown[label] for label in attachment.due if shown[label] and label not in sources}
        if loose:
            yield finding_at(reader, LabelFinding.LABEL_UNATTACHED, ids=set(loose.values()), labels=loose)
        wrong = {
            label: shown[label]
            for label, attached in sources.items()
            if attached and shown.get(label) and not _match(graph, shown[label], attached)
        }
        if wrong:
            ids = {*wrong.values(), *(sources[label] for label in wrong)}
            yield finding_at(reader, LabelFinding.LABEL_MISATTRIBUTED, ids=ids, labels=wrong)
    unknown = {label for label in reader.citations or () if label not in shown}
    if unknown:
        yield finding_at(reader, LabelFinding.CITATION_UNRESOLVED, labels=unknown)
