"""What one execution of a stage told about itself, and the span attributes for it."""

from __future__ import annotations

from typing import Any

from rop_otel import semconv
from rop_otel.core.handoff import Ids
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
