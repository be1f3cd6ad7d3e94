"""Measures of one ranked list, over the gains at its ranks.

``gains[i]`` is the grade of the document at rank ``i + 1``: 0 where it is not relevant or repeats an object already
seen; the reciprocal rank takes the first relevant rank alone. Equal to trec_eval's on lists without ties.
"""

from rop_otel.core.measures.ndcg import NDCG, ndcg
from rop_otel.core.measures.precision import PRECISION, precision
from rop_otel.core.measures.recall import RECALL, recall
from rop_otel.core.measures.reciprocal_rank import RECIPROCAL_RANK, reciprocal_rank

__all__ = ["NDCG", "PRECISION", "RECALL", "RECIPROCAL_RANK", "ndcg", "precision", "recall", "reciprocal_rank"]
