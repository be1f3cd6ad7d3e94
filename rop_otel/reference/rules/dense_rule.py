"""The rule ``dense``: the pages whose vectors are nearest to the query's, searched exactly with faiss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rop_otel.core.ranking import Lost, Query, Ranked
from rop_otel.reference.index import VectorIndex
from rop_otel.reference.rules.model_scores import rounded
from rop_otel.reference.rules.page_pool import Pool

_SPARE = 16
"""Pages asked for beyond the depth: so many may tie at the cut without another search."""


class DenseRule:
    """Ranks by the inner product of unit vectors, on a GPU where the libraries report one; ties by ID.

    Args:
        pool: What is searched.
    """

    name = "dense"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the nearest pages of each query."""
        return [self._search(query.text, depth) for query in queries]

    @cached_property
    def _index(self) -> VectorIndex:
        return VectorIndex(self._pool.vectors)

    def _search(self, text: str, depth: int) -> list[tuple[str, float]]:
        chunks, wanted = self._pool.chunks, depth + _SPARE
        vector = self._pool.encoder.encode_query(text).vector
        while True:
            found = [(place, rounded(score)) for place, score in self._index.search(vector, wanted)]
            if wanted >= len(chunks) or found[-1][1] < found[depth - 1][1]:
                break
            wanted *= 2  # what ties with the last page may not be among those found
        found.sort(key=lambda hit: (-hit[1], hit[0]))
        return [(chunks[place].id, score) for place, score in found[:depth]]
