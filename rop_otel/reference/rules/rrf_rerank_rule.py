"""The rule ``rrf_rerank``: the first fused pages in a better order, by late interaction or a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked
from rop_otel.reference.rules.maxsim_rule import score_pages
from rop_otel.reference.rules.model_scores import rounded
from rop_otel.reference.rules.page_pool import Pool
from rop_otel.reference.rules.rrf_rule import FUSED
from rop_otel.reference.session import Session
from rop_otel.reference.stages.reranking import pair_scores

_PAIRS = 16
"""Pairs that a cross-encoder reads at a time."""


class RrfRerankRule:
    """Scores the first 100 of another rule anew; ties by ID.

    Args:
        pool: What is searched.
        fused: What is reranked.
        cross_encoder: Reads query and page together; None: late interaction.
    """

    name = "rrf_rerank"

    def __init__(self, pool: Pool, fused: HandoffRule, cross_encoder: Session | None) -> None:
        self._pool = pool
        self._fused = fused
        self._cross_encoder = cross_encoder

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the reranked list of each query."""
        lists = self._fused.rank(queries, FUSED)
        return [
            found if isinstance(found, Lost) else self._reranked(query.text, {page for page, _ in found})[:depth]
            for query, found in zip(queries, lists, strict=True)
        ]

    def _reranked(self, text: str, ids: set[str]) -> list[tuple[str, float]]:
        if self._cross_encoder is None:
            return score_pages(self._pool, text, ids)
        ordered = sorted(ids)
        pages = [self._pool.chunks[self._pool.places[page]].titled_text for page in ordered]
        scores = [
            score
            for first in range(0, len(pages), _PAIRS)
            for score in pair_scores(self._cross_encoder, text, pages[first : first + _PAIRS])
        ]
        found = ((page, rounded(score)) for page, score in zip(ordered, scores, strict=True))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))
