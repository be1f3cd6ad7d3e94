"""Normalised discounted cumulative gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Final

from rop_otel.core.measures.measure import Measure, register

_DISCOUNTS = tuple(1 / math.log2(1 + rank) for rank in range(1, 1001))


def ndcg(gains: Sequence[int], *, k: int, ideal: Sequence[int]) -> float:
    """Return the discounted gain of the first k ranks over that of the best possible ranking.

    ``DCG = sum(gain / log2(1 + rank))``, linear gain, as trec_eval computes it; 0 for an empty list. The ideal comes
    from every judged object, not from what came back. Source: Järvelin and Kekäläinen, *Cumulated gain-based
    evaluation of IR techniques* (2002).

    Args:
        gains: Grade at each rank.
        k: Cutoff, 1 to 1,000.
        ideal: Grades of all relevant objects in descending order, at least one of them positive.

    >>> round(ndcg([1], k=5, ideal=[1, 1, 1]), 4)
    0.4693
    """
    return dcg(gains, k=k) / dcg(ideal, k=k)


def dcg(gains: Sequence[int], *, k: int) -> float:
    """Return the discounted gain of the first k ranks; 0 for an empty list."""
    return sum(gain * discount for gain, discount in zip(islice(gains, k), _DISCOUNTS, strict=False) if gain)


NDCG: Final = register(
    Measure(
        name="ndcg",
        ks=(5, 10),
        place=3,
        title="nDCG",
        description="Gain of the first ten, discounted by rank, against the best possible order.",
        score=lambda ranked, k: ndcg(ranked.gains, k=k, ideal=ranked.ideal),
    )
)
