"""How wide each stage of the pipeline is."""

from __future__ import annotations

from dataclasses import dataclass

from rop_otel.reference.query import QueryForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sizes and limits.

    Args:
        query: Whether the question or the selected object's title is looked for.
        depth: Passages from each source.
        candidates: Passages that the reranker sees.
        reranked: Passages that it keeps.
        diverse: Passages left after MMR.
        mmr_weight: Of relevance against likeness in MMR, 0 to 1.
        token_budget: Tokens of the reader's context.
        rescue_budget: Tokens on top of it for rescued passages.
    """

    query: QueryForm = "question"
    depth: int = 50
    candidates: int = 30
    reranked: int = 12
    diverse: int = 8
    mmr_weight: float = 0.7
    token_budget: int = 600
    rescue_budget: int = 150
