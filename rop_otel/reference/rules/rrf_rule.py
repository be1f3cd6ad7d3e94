"""The rule ``rrf``: reciprocal-rank fusion of words, vectors and late interaction."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked
from rop_otel.reference.stages import Hit
from rop_otel.reference.stages.retrieval import RRF_K, fuse

FUSED = 100
"""First pages of each arm that are fused."""


class RrfRule:
    """Ranks by the sum of ``1 / (60 + rank)`` over the arms' first 100; ties by ID.

    Args:
        arms: What is fused; an arm that could not run adds nothing.
    """

    name = "rrf"

    def __init__(self, arms: Sequence[HandoffRule]) -> None:
        self._arms = arms

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the fused list of each query."""
        lists = zip(*(arm.rank(queries, FUSED) for arm in self._arms), strict=True)
        return [_fused(found)[:depth] for found in lists]


def _fused(arms: Sequence[Ranked | Lost]) -> list[tuple[str, float]]:
    hits = [[Hit(page, score, "") for page, score in arm] for arm in arms if not isinstance(arm, Lost)]
    return [(hit.id, hit.score) for hit in fuse(hits, RRF_K)]
