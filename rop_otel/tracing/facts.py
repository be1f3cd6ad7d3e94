"""What one execution of a stage told about itself, and the span attributes for it."""

from __future__ import annotations

from typing import Any

from rop_otel import semconv
from rop_otel.core.handoff import Ids, StageRecord
from rop_otel.tracing.spec import Spec


class StageFacts:
    """Collected while a stage runs; None: not told. The words are those of :class:`StageRecord`."""

    __slots__ = (
        "citations",
        "fallback",
        "id_tokens",
        "implementation",
        "input",
        "input_count",
        "labels",
        "query_form",
        "returned",
        "returned_count",
        "scopes",
        "scores",
        "token_budget",
        "tokens",
        "top_k",
    )

    def __init__(self, spec: Spec) -> None:
        self.returned: Ids | None = None
        self.returned_count: int | None = None
        self.scores: tuple[float, ...] | None = None
        self.scopes: tuple[str, ...] | None = None
        self.input: Ids | None = None
        self.input_count: int | None = None
        self.labels: tuple[str, ...] | None = None
        self.id_tokens: tuple[int, ...] | None = None
        self.tokens: int | None = None
        self.token_budget: int | None = None
        self.citations: tuple[str, ...] | None = None
        self.implementation = spec.implementation
        self.fallback = False
        self.query_form = spec.query_form
        self.top_k: int | None = None

    def write_on(self, attributes: dict[str, Any]) -> None:
        """Add the attributes for what was told. One line each, since this runs for every stage."""
        if self.returned is not None:
            attributes[semconv.RETURNED_IDS] = self.returned
        if self.returned_count is not None:
            attributes[semconv.RETURNED_COUNT] = self.returned_count
        if self.scores is not None:
            attributes[semconv.RETURNED_SCORES] = self.scores
        if self.scopes is not None:
            attributes[semconv.RETURNED_SCOPES] = self.scopes
        if self.input is not None:
            attributes[semconv.INPUT_IDS] = self.input
        if self.input_count is not None:
            attributes[semconv.INPUT_COUNT] = self.input_count
        if self.labels is not None:
            attributes[semconv.CONTEXT_LABELS] = self.labels
        if self.id_tokens is not None:
            attributes[semconv.CONTEXT_ID_TOKENS] = self.id_tokens
        if self.tokens is not None:
            attributes[semconv.CONTEXT_TOKENS] = self.tokens
        if self.token_budget is not None:
            attributes[semconv.CONTEXT_TOKEN_BUDGET] = self.token_budget
        if self.citations is not None:
            attributes[semconv.ANSWER_CITATIONS] = self.citations
        if self.implementation is not None:
            attributes[semconv.STAGE_IMPLEMENTATION] = self.implementation
        if self.fallback:
            attributes[semconv.STAGE_FALLBACK] = True
        if self.query_form is not None:
            attributes[semconv.QUERY_FORM] = self.query_form
        if self.top_k is not None:
            attributes[semconv.GEN_AI_TOP_K] = self.top_k

    def record(
        self,
        spec: Spec,
        *,
        round_number: int | None,
        trace_id: str,
        span_id: str,
        parent_id: str | None,
        start_ns: int,
        end_ns: int | None,
        failed: bool,
    ) -> StageRecord:
        """Return the facts as the core takes them, with those of the spec; the arguments are those of the record."""
        return StageRecord(
            kind=spec.kind,
            name=spec.name,
            source=spec.source,
            fed_by=spec.fed_by,
            round=round_number,
            returned=self.returned,
            returned_count=self.returned_count,
            input=self.input,
            input_count=self.input_count,
            scores=self.scores,
            scopes=self.scopes,
            implementation=self.implementation,
            fallback=self.fallback,
            query_form=self.query_form,
            labels=self.labels,
            id_tokens=self.id_tokens,
            tokens=self.tokens,
            token_budget=self.token_budget,
            citations=self.citations,
            trace_id=trace_id,
            span_id=span_id,
            parent_id=parent_id,
            start_ns=start_ns,
            end_ns=end_ns,
            failed=failed,
        )
