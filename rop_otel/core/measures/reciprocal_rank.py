"""Reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence


def reciprocal_rank(gains: Sequence[int]) -> float:
    """Return one over the rank of the first relevant object, without a cutoff.

    ``1 / rank``; 0 where nothing is relevant and for an empty list. Its mean over queries is MRR. Source: Voorhees,
    *The TREC-8 Question Answering Track Report* (1999).

    Args:
        gains: Grade at each rank.

    >>> reciprocal_rank([0, 0, 2])
    0.3333333333333333
    """
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain > 0), 0.0)
