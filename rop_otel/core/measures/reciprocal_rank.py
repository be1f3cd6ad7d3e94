"""Reciprocal rank."""

from __future__ import annotations

from typing import Final

from rop_otel.core.measures.measure import Measure, register


def reciprocal_rank(first: int | None) -> float:
    """Return one over the rank of the first relevant object, without a cutoff.

    ``1 / rank``; 0 where nothing is relevant and for an empty list. Its mean over queries is MRR. Source: Voorhees,
    *The TREC-8 Question Answering Track Report* (1999).

    Args:
        first: 1-based rank of the first relevant object, None where there is none.

    >>> reciprocal_rank(3)
    0.3333333333333333
    """
    return 0.0 if first is None else 1 / first


RECIPROCAL_RANK: Final = register(
    Measure(
        name="rr",
        ks=(0,),
        place=2,
        title="MRR",
        description="Mean of 1 / rank of the first wanted object.",
        score=lambda ranked, _: reciprocal_rank(ranked.first),
    )
)
