"""The observed facts of one handoff; nothing is decided here.

Every door (in process, across processes, replay) builds these records and nothing else. The row at a field says how a
span carries the fact: a new fact is a name in ``semconv``, a row here, and an argument of the API.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff import values
from rop_otel.core.handoff.fact import fact, facts_of, row
from rop_otel.core.handoff.frozen import dataclass

Ids = tuple[str, ...]
"""IDs in rank order. The empty string is a document whose ID could not be read: it keeps its slot."""

UNNAMED: Final = "unnamed"
"""A handoff whose name cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """One execution of one stage.

    Args:
        kind: The stage's kind (``rop.stage``), one of the contract's or a custom one.
        name: A name of its own, if a pipeline has two stages of one kind.
        source: True for a custom stage that takes no documents.
        fed_by: Names (else kinds) of the feeding stages; empty: the rule of the contract.
        round: 1-based round; None for the whole handoff.
        returned: Recorded IDs in order; None where no ID could be read. Empty: nothing was returned.
        returned_count: True length where the recorded IDs were cut to a limit; None: nothing was cut.
        input: IDs it was handed, in order; None where not recorded.
        input_count: True length of the input, likewise.
        scores: Aligned with ``returned``; of another length they are ignored.
        scopes: Aligned with ``returned``, likewise; an empty string is unknown.
        implementation: What really ran.
        fallback: True where the stage ran its fallback.
        query_form: How a source's query was built.
        labels: Citation label of each returned ID (packing, rescue, reader); None where not given.
        id_tokens: Tokens of text shown for each returned ID (packing, rescue).
        shares: Share of each returned ID's text that was seen in the prompt, 0 to 1 (packing, rescue).
        basis: How the list is known, as recorded: ``recorded``, ``prompt``, ``assumed`` or ``unseen``; None: not
            said, which means ``recorded`` (packing, rescue).
        tokens: Tokens used (packing).
        token_budget: Tokens allowed (packing).
        citations: Labels that the answer cites, in order, repeats kept (reader).
        attaches: ``shown`` or ``cited``, as recorded; None: not said, which means ``shown`` (reader).
        abstained: True where the answer says that it cannot answer; None where not recorded (reader).
        trace_id: Trace of its span, 32 hex digits, or minted.
        span_id: Its span, 16 hex digits, or minted; unique within the trace.
        parent_id: Span ID of the nearest enclosing stage of the same handoff; None where there is none.
        start_ns: Start, Unix nanoseconds.
        end_ns: End, Unix nanoseconds; None where it had not ended when its handoff did.
        failed: True where its span has status ERROR.
        foreign: True where it was read out of a span of another convention.
    """

    kind: str = field(metadata=row(semconv.STAGE, values.text_or_empty, instead=semconv.OTHER))
    name: str | None = fact(semconv.STAGE_NAME, values.text)
    source: bool = fact(semconv.STAGE_SOURCE, values.flag)
    fed_by: tuple[str, ...] = fact(semconv.STAGE_FED_BY, values.names)
    round: int | None = fact(semconv.ROUND, values.round_number)
    returned: Ids | None = fact(semconv.RETURNED_IDS, values.ids, hashed="id", cut="counted")
    returned_count: int | None = fact(semconv.RETURNED_COUNT, values.integer, counts="returned")
    input: Ids | None = fact(semconv.INPUT_IDS, values.ids, hashed="id", cut="counted")
    input_count: int | None = fact(semconv.INPUT_COUNT, values.integer, counts="input")
    scores: tuple[float, ...] | None = fact(semconv.RETURNED_SCORES, values.numbers, cut="aligned")
    scopes: tuple[str, ...] | None = fact(semconv.RETURNED_SCOPES, values.scopes, hashed="id", cut="aligned")
    implementation: str | None = fact(semconv.STAGE_IMPLEMENTATION, values.text)
    fallback: bool = fact(semconv.STAGE_FALLBACK, values.flag)
    query_form: str | None = fact(semconv.QUERY_FORM, values.text)
    labels: tuple[str, ...] | None = fact(semconv.CONTEXT_LABELS, values.texts, hashed="label", cut="aligned")
    id_tokens: tuple[int, ...] | None = fact(semconv.CONTEXT_ID_TOKENS, values.integers, cut="aligned")
    shares: tuple[float, ...] | None = fact(semconv.CONTEXT_SHARES, values.numbers, cut="aligned")
    basis: str | None = fact(semconv.CONTEXT_BASIS, values.text, choices=("recorded", "prompt", "assumed", "unseen"))
    tokens: int | None = fact(semconv.CONTEXT_TOKENS, values.integer)
    token_budget: int | None = fact(semconv.CONTEXT_TOKEN_BUDGET, values.integer)
    citations: tuple[str, ...] | None = fact(semconv.ANSWER_CITATIONS, values.texts, hashed="label", cut="limited")
    attaches: str | None = fact(semconv.ANSWER_ATTACHES, values.text, choices=("shown", "cited"))
    abstained: bool | None = fact(semconv.ANSWER_ABSTAINED, values.truth)
    foreign: bool = fact(semconv.STAGE_FOREIGN, values.flag)
    trace_id: str = ""
    span_id: str
    parent_id: str | None = None
    start_ns: int
    end_ns: int | None
    failed: bool = False

    @property
    def true_count(self) -> int | None:
        """How many IDs were returned, those that were not recorded included; None where unreadable."""
        return None if self.returned is None else max(len(self.returned), self.returned_count or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRecord:
    """One way from a selected object, or just a question, to the evidence that a reader is shown.

    Values that the contract calls invalid are kept as they came, so that the verdict can report them.

    Args:
        name: Low-cardinality name of the interface.
        handoff_id: Unique ID.
        trace_id, span_id: The handoff span, in hex; empty without one.
        record_id, run_id: IDs of its record and of its run, if any.
        declaration_id, declaration_sha256: The declaration in force, if any.
        resolver_sha256: Hash of the resolver that the handoff names, if any.
        mode: As recorded; None: ``hard`` where ``selected`` is given, else ``open``.
        selected: The selected key or its declared alternatives. None: no selection was due. Empty: one was due and
            none came. An element that was not a string is the empty string.
        need: ``one`` or ``every``, as recorded; None: ``one``.
        witness: What decodes to the selected key, where the declaration of its run demands that.
        witness_sha256: What binds the witness to the record.
        rule: ``any`` or ``all``, as recorded; None: ``any``.
        cutoff: As recorded, 0 for one that was no integer; None: all that the reader is shown.
        judged: Judged objects (the dataset's trace); None or empty: no judgments. Empty strings are malformed and
            ignored.
        grades: Grades aligned with ``judged``; a missing one is 1.
        scope_id: The container that the query is confined to.
        expected: Declared stages in order (a name, else a kind).
        starved_ratio: Threshold of ``starved_context``; None: 0.1.
        min_tokens: Threshold of ``thin_passage``; None: 8.
        label_scope: ``passage`` or ``object``, as recorded; None: not said, which means ``passage``.
        gaps: Why spans of it are known to be missing (see :class:`~rop_otel.core.handoff.gaps.Gap`); empty: none are.
        stages: In any order.
        failed: True where the handoff span has status ERROR.
        start_ns, end_ns: Unix nanoseconds.
    """

    name: str = field(metadata=row(semconv.HANDOFF_NAME, values.text_or_empty, instead=UNNAMED))
    handoff_id: str
    trace_id: str = ""
    span_id: str = ""
    record_id: str | None = fact(semconv.RECORD_ID, values.text)
    run_id: str | None = fact(semconv.RUN_ID, values.text)
    declaration_id: str | None = fact(semconv.DECLARATION_ID, values.text)
    declaration_sha256: str | None = fact(semconv.DECLARATION_SHA256, values.text)
    resolver_sha256: str | None = fact(semconv.RESOLVER_SHA256, values.text)
    mode: str | None = fact(semconv.MODE, values.choice, choices=("hard", "soft", "open"), instead="")
    selected: Ids | None = fact(semconv.SELECTED_IDS, values.selected, hashed="id", instead=("",))
    need: str | None = fact(semconv.SELECTED_NEED, values.choice, choices=("one", "every"), instead="")
    witness: str | None = fact(semconv.SELECTED_WITNESS, values.text, hashed="id")
    witness_sha256: str | None = fact(semconv.SELECTED_WITNESS_SHA256, values.text)
    rule: str | None = fact(semconv.RULE, values.choice, choices=("any", "all"), instead="")
    cutoff: int | None = fact(semconv.CUTOFF, values.cutoff)
    judged: Ids | None = fact(semconv.JUDGED_IDS, values.texts, hashed="id")
    grades: tuple[int, ...] = fact(semconv.JUDGED_GRADES, values.grades)
    scope_id: str | None = fact(semconv.SCOPE_ID, values.text, hashed="id")
    expected: tuple[str, ...] = fact(semconv.EXPECTED_STAGES, values.names)
    starved_ratio: float | None = fact(semconv.STARVED_RATIO, values.number)
    min_tokens: int | None = fact(semconv.MIN_TOKENS, values.integer)
    label_scope: str | None = fact(semconv.LABEL_SCOPE, values.text, choices=("passage", "object"))
    gaps: tuple[str, ...] = fact(semconv.GAPS, values.names)
    stages: tuple[StageRecord, ...] = ()
    failed: bool = False
    start_ns: int
    end_ns: int


STAGE_FACTS: Final = facts_of(StageRecord)
HANDOFF_FACTS: Final = facts_of(HandoffRecord)
