"""What one execution of a stage told about itself, and the span attributes for it."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import Ids
from rop_otel.tracing.spec import Spec

Value = str | bool | int | float | tuple[str, ...] | tuple[int, ...] | tuple[float, ...]


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

    def attributes(self) -> dict[str, Value]:
        """Return the attributes for what was told; those of its spec are apart."""
        told = {
            semconv.RETURNED_IDS: self.returned,
            semconv.RETURNED_COUNT: self.returned_count,
            semconv.RETURNED_SCORES: self.scores,
            semconv.RETURNED_SCOPES: self.scopes,
            semconv.INPUT_IDS: self.input,
            semconv.INPUT_COUNT: self.input_count,
            semconv.CONTEXT_LABELS: self.labels,
            semconv.CONTEXT_ID_TOKENS: self.id_tokens,
            semconv.CONTEXT_TOKENS: self.tokens,
            semconv.CONTEXT_TOKEN_BUDGET: self.token_budget,
            semconv.ANSWER_CITATIONS: self.citations,
            semconv.STAGE_IMPLEMENTATION: self.implementation,
            semconv.STAGE_FALLBACK: self.fallback or None,
            semconv.QUERY_FORM: self.query_form,
            semconv.GEN_AI_TOP_K: self.top_k,
        }
        return {name: value for name, value in told.items() if value is not None}
