"""The shape of the page's document, as the views rely on it: a missing or unknown field, or another type, fails."""

from __future__ import annotations

from typing import Any

import msgspec

Number = int | float
Ids = list[str]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Words(Shape):
    says: str
    advice: str = msgspec.field(name="try")


class FindingWords(Words, kw_only=True):
    severity: str


class AllWords(Shape):
    verdicts: dict[str, str]
    causes: dict[str, Words]
    findings: dict[str, FindingWords]


class Held(Shape):
    of: int
    kept: int


class Spot(Shape, kw_only=True):
    stage: str | None
    name: str | None
    round: int | None


class Survival(Spot, kw_only=True):
    selected: Held
    judged: Held


class Loss(Spot, kw_only=True):
    cause: str
    count: int
    judged: int


class FindingCount(Shape):
    code: str
    severity: str
    stage: str
    name: str | None
    count: int


class Scores(Spot, kw_only=True):
    returned: Number | None
    selected: dict[str, Number]
    judged: dict[str, Number]


class Citations(Shape):
    resolved: int
    unresolved: int
    misattributed: int
    unattached: int


class Summary(Shape):
    verdicts: dict[str, int]
    joints: dict[str, int]
    survival: list[Survival]
    stages_left_out: int
    losses: list[Loss]
    findings: list[FindingCount]
    scores: list[Scores]
    citations: Citations
    orphan_stages: int
    incomplete_handoffs: Ids
    duplicate_handoffs: Ids
    absent_resolvers: Ids
    run: dict[str, Any] | None


class Set(Shape):
    name: str
    handoffs: int
    blocks: int
    summary: Summary


class Head(Shape):
    format: int
    version: str
    title: str
    made_at: str | None
    trace_url: str | None
    sets: list[Set]
    words: AllWords


class Which(Shape, kw_only=True):
    handoff_id: str
    trace_id: str
    handoff_name: str
    service: str | None
    record_id: str | None
    run_id: str | None
    verdict: str | None
    mode: str
    selected_rank: int | None
    dropped_at: str | None
    dropped_at_name: str | None
    dropped_at_round: int | None
    drop_cause: str | None
    agreement: bool | None
    joint: str | None
    selected: Ids | None
    judged: Ids | None
    start: Number | None
    duration: Number | None


class Row(Which, kw_only=True):
    findings: list[tuple[str, str]]
    selected_at: str
    judged_at: str
    judged_losses: list[tuple[str | None, str | None, int | None, str]] | None
    citations: tuple[int, int, int, int]


class Finding(Shape):
    code: str
    severity: str
    stage: str
    name: str | None
    round: int | None
    ids: Ids
    labels: Ids
    message: str
    place: int | None
    advice: str = msgspec.field(name="try")


class LossHere(Words, kw_only=True):
    place: int | None
    cause: str


class JudgedLoss(Words, kw_only=True):
    id: str
    dropped_at: str | None
    dropped_at_name: str | None
    dropped_at_round: int | None
    drop_cause: str
    place: int | None


class Stage(Shape, kw_only=True):
    stage: str
    name: str | None
    round: int | None
    returned: int | None
    implementation: str | None
    fallback: bool
    query_form: str | None
    selected: dict[str, Number]
    judged: dict[str, Number]
    dropped: Ids | None
    ids: Ids | None
    added: Ids | None
    place: int
    parent: int | None
    feeds: list[int]
    status: str
    reason: str | None
    scores: list[Number] | None
    scopes: Ids | None
    tokens: list[int] | None
    shares: list[Number] | None
    labels: Ids | None
    basis: str | None
    context_tokens: int | None
    token_budget: int | None
    service: str | None
    top_k: int | None
    input: Ids | None
    handed: int | None
    foreign: bool
    start: Number | None
    duration: Number | None
    query: str | msgspec.UnsetType = msgspec.UNSET
    citations: Ids | msgspec.UnsetType | None = msgspec.UNSET
    attaches: str | msgspec.UnsetType | None = msgspec.UNSET
    abstained: bool | msgspec.UnsetType | None = msgspec.UNSET


class Shown(Shape):
    ids: Ids
    basis: str | None
    selected: dict[str, Number]
    judged: dict[str, Number]
    hollow: list[bool]
    places: list[int]


class Label(Shape):
    label: str
    shown: str | None
    attached: str | None
    cited: bool
    outcome: str | None
    reader: int | None


class Detail(Which, kw_only=True):
    findings: list[Finding]
    judged_losses: list[JudgedLoss] | None
    stages: list[Stage]
    shown: Shown
    question: str | msgspec.UnsetType = msgspec.UNSET
    note: str | None
    cutoff: int | None
    rule: str
    need: str
    scope: str | None
    failed: bool
    loss: LossHere | None
    selected_ids: Ids
    judged_ids: Ids
    labels: list[Label]
    test: str | None
    spans: dict[str, Any]


def check(found: dict[str, Any], details: list[dict[str, Any]], number: int = 0) -> None:
    """Raise where the blocks of a set have another shape, or do not agree with each other on their lengths."""
    head = msgspec.convert(found["head"], Head)
    rows = msgspec.convert(found[f"set-{number}-rows"], list[Row])
    whole = msgspec.convert(details, list[Detail])
    shown = head.sets[number]
    assert len(rows) == len(whole) == shown.handoffs
    for row, detail in zip(rows, whole, strict=True):
        assert row.handoff_id == detail.handoff_id
        assert len(row.selected_at) == len(row.judged_at) == len(shown.summary.survival)
        assert set(row.selected_at + row.judged_at) <= set("-01")
        assert len(detail.shown.ids) == len(detail.shown.hollow)
        places = range(len(detail.stages))
        assert [stage.place for stage in detail.stages] == list(places)
        pointing = [*detail.shown.places, *(finding.place for finding in detail.findings)]
        pointing += [detail.loss.place if detail.loss else None, *(lost.place for lost in detail.judged_losses or ())]
        pointing += [stage.parent for stage in detail.stages] + [
            feed for stage in detail.stages for feed in stage.feeds
        ]
        pointing += [label.reader for label in detail.labels]
        assert all(place is None or place in places for place in pointing)
