"""Precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rop_otel.core.measures.measure import Measure, register


def precision(gains: Sequence[int], *, k: int) -> float:
    """Return the share of the first k ranks that hold a relevant object, always over k.

    ``|relevant in the first k| / k``; 0 for an empty list. Source: Manning, Raghavan and Schütze,
    *Introduction to Information Retrieval* (2008), section 8.3.

    Args:
        gains: Grade at each rank.
        k: Cutoff, at least 1.

    >>> precision([1, 0], k=5)
    0.2
    """
    return sum(1 for gain in gains[:k] if gain > 0) / k


PRECISION: Final = register(
    Measure(
        name="precision",
        ks=(5,),
        place=4,
        title="Precision",
        description="Share of the first five that are wanted; at most 20 % for a selected object.",
        fills=False,
        score=lambda ranked, k: precision(ranked.gains, k=k),
    )
)
