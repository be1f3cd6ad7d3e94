"""Measures of one ranked list, over the gains at its ranks.

``gains[i]`` is the grade of the document at rank ``i + 1``: 0 where it is not relevant or repeats an object already
seen; the reciprocal rank takes the first relevant rank alone. Equal to trec_eval's on lists without ties.
"""

from rop_otel.core.measures.ndcg import ndcg
from rop_otel.core.measures.precision import precision
from rop_otel.core.measures.recall import recall
from rop_otel.core.measures.reciprocal_rank import reciprocal_rank

__all__ = ["ndcg", "precision", "recall", "reciprocal_rank"]
