"""The shapes of the API's answers, for its description. They are never made: what the store has is written as it is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Ids = list[str]
Scores = dict[str, float]


class Shape(BaseModel):
    """An object with just these fields."""

    model_config = ConfigDict(extra="forbid")


class Error(Shape):
    """What went wrong."""

    error: str


class Advice(Shape):
    """What something means, and what to try."""

    says: str
    advice: str = Field(alias="try")


class FindingAdvice(Advice):
    """What a finding means."""

    severity: str


class Words(Shape):
    """What codes mean."""

    verdicts: dict[str, str]
    causes: dict[str, Advice]
    findings: dict[str, FindingAdvice]


class Head(Shape):
    """What the page reads first."""

    format: int
    version: str
    title: str
    trace_url: str | None
    live: bool
    words: Words


class Which(Shape):
    """Which handoff it is, and how it fared."""

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
    start: float | None
    duration: float | None


class Row(Which):
    """A handoff in a list. Its marks stand for the places beside it: 1 there, 0 not there, - not known."""

    findings: list[tuple[str, str]]
    selected_at: str
    judged_at: str
    judged_losses: list[tuple[str | None, str | None, int | None, str]] | None
    citations: tuple[int, int, int, int]


class Rows(Shape):
    """A page of handoffs."""

    places: list[str]
    handoffs: list[Row]
    after: str | None


class Held(Shape):
    """Lists of which it is known whether they hold an object, and those that do."""

    of: int
    kept: int


class Spot(Shape):
    """A stage."""

    stage: str | None
    name: str | None
    round: int | None


class Survival(Spot):
    """Lists of a stage that hold objects."""

    selected: Held
    judged: Held


class Loss(Spot):
    """Objects that a stage lost."""

    cause: str
    count: int
    judged: int


class FindingCount(Shape):
    """Findings of one kind."""

    code: str
    severity: str
    stage: str
    name: str | None
    count: int


class StageMeans(Spot):
    """Means over the lists of a stage."""

    returned: float | None
    selected: Scores
    judged: Scores


class Citations(Shape):
    """Citations by outcome."""

    resolved: int
    unresolved: int
    misattributed: int
    unattached: int


class Overview(Shape):
    """What handoffs add up to."""

    verdicts: dict[str, int]
    joints: dict[str, int]
    survival: list[Survival]
    stages_left_out: int
    losses: list[Loss]
    findings: list[FindingCount]
    scores: list[StageMeans]
    citations: Citations
    orphan_stages: int
    incomplete_handoffs: Ids
    duplicate_handoffs: Ids
    absent_resolvers: Ids
    run: dict[str, Any] | None


class Hour(Shape):
    """Handoffs that were settled in one hour, which begins at `start`, Unix seconds."""

    start: int
    handoffs: int
    verdicts: dict[str, int]
    selected: Held


class Choices(Shape):
    """Names, services and runs in these hours, whichever are asked for; at most 100 each."""

    name: Ids
    service: Ids
    run: Ids


class Summary(Shape):
    """What handoffs add up to, as a whole and by the hour, what there is to choose from, and what waits."""

    handoffs: int
    summary: Overview
    hours: list[Hour]
    choices: Choices
    open_traces: int
    waiting_bytes: int


class Finding(Spot):
    """A finding of one handoff."""

    code: str
    severity: str
    stage: str
    ids: Ids
    labels: Ids
    message: str
    place: int | None
    advice: str = Field(alias="try")


class LossHere(Advice):
    """Where the selected object was lost."""

    place: int | None
    cause: str


class JudgedLoss(Advice):
    """Where a judged object was lost."""

    id: str
    dropped_at: str | None
    dropped_at_name: str | None
    dropped_at_round: int | None
    drop_cause: str
    place: int | None


class Stage(Spot):
    """One execution of a stage with its lists. `query`, `citations`, `attaches` and `abstained` may be absent."""

    stage: str
    returned: int | None
    implementation: str | None
    fallback: bool
    query_form: str | None
    selected: Scores
    judged: Scores
    dropped: Ids | None
    ids: Ids | None
    added: Ids | None
    place: int
    parent: int | None
    feeds: list[int]
    status: str
    reason: str | None
    scores: list[float | None] | None
    scopes: Ids | None
    tokens: list[int | None] | None
    shares: list[float | None] | None
    labels: Ids | None
    basis: str | None
    context_tokens: int | None
    token_budget: int | None
    service: str | None
    top_k: int | None
    input: Ids | None
    handed: int | None
    foreign: bool
    start: float | None
    duration: float | None
    query: str = ""
    citations: Ids | None = None
    attaches: str | None = None
    abstained: bool | None = None


class Shown(Shape):
    """What the reader was shown."""

    ids: Ids
    basis: str | None
    selected: Scores
    judged: Scores
    hollow: list[bool]
    places: list[int]


class Label(Shape):
    """A label: the passage that the prompt shows under it, the source that is attached, and what came of it."""

    label: str
    shown: str | None
    attached: str | None
    cited: bool
    outcome: str | None
    reader: int | None


class Detail(Which):
    """All that is known of one handoff. `spans` is an OTLP export request. `question` may be absent."""

    findings: list[Finding]
    judged_losses: list[JudgedLoss] | None
    stages: list[Stage]
    shown: Shown
    question: str = ""
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


class Fates(Shape):
    """Records by how they fared before and after."""

    kept: int
    recovered: int
    lost: int
    missed: int
    undecided: int


class PlaceFates(Fates):
    """The same for the lists of one stage."""

    place: str


class ChangedRecords(Shape):
    """Records whose fate changed: record ID, handoff ID before, handoff ID after; at most 200 of each."""

    recovered: list[tuple[str, str, str]]
    lost: list[tuple[str, str, str]]


class Compared(Fates):
    """Two sets of handoffs, paired by record."""

    pairs: int
    only_before: int
    only_after: int
    repeated: int
    unnamed: int
    more: bool
    places: list[PlaceFates]
    records: ChangedRecords


class Run(Shape):
    """A run as far as its handoffs are kept; `first` and `last` are Unix seconds."""

    run_id: str
    handoffs: int
    records: int
    verdicts: dict[str, int]
    first: float
    last: float
    planned: int | None
    missing: int | None


class Runs(Shape):
    """Runs."""

    runs: list[Run]


class RunDetail(Run):
    """One run with its report, in the shape of `rop-otel evaluate --format json`, without its records."""

    missing_ids: Ids
    report: dict[str, Any] | None
