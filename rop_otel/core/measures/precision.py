"""Precision."""

from __future__ import annotations

from collections.abc import Sequence


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
