"""Recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rop_otel.core.measures.measure import Measure, register


def recall(gains: Sequence[int], *, k: int, relevant: int) -> float:
    """Return the share of the relevant objects that the first k ranks hold.

    ``|relevant in the first k| / |relevant|``; 0 for an empty list. Source: Manning, Raghavan and Schütze,
    *Introduction to Information Retrieval* (2008), section 8.3.

    Args:
        gains: Grade at each rank.
        k: Cutoff, at least 1.
        relevant: Number of relevant objects, at least 1.

    >>> recall([0, 1, 1], k=2, relevant=4)
    0.25
    """
    return sum(1 for gain in gains[:k] if gain > 0) / relevant


RECALL: Final = register(
    Measure(
        name="recall",
        ks=(1, 3, 5, 10),
        place=1,
        title="recall",
        description="Share of the wanted objects among the first k.",
        score=lambda ranked, k: recall(ranked.gains, k=k, relevant=ranked.relevant),
    )
)
