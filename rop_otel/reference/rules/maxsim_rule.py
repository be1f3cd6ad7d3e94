"""The rule ``maxsim``: late interaction, each query token's best match in the page, on average."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked
from rop_otel.reference.rules.model_scores import DIGITS, rounded
from rop_otel.reference.rules.page_pool import Pool

WHOLE_POOL = 50_000
"""Most pages that are all scored; of more, only candidates are."""

CANDIDATES = 200
"""First pages of each arm that are scored where the pool is larger."""

_BLOCK = 32
"""Pages whose token vectors are in memory as floats at a time, about 7 MB, beside as many rows of similarities."""


class MaxSimRule:
    """Ranks by MaxSim over token vectors (Khattab and Zaharia, 2020); ties by ID.

    Args:
        pool: What is searched.
        arms: Rules whose first pages are the candidates where the pool is larger than ``WHOLE_POOL``.
    """

    name = "maxsim"

    def __init__(self, pool: Pool, arms: Sequence[HandoffRule]) -> None:
        self._pool = pool
        self._arms = arms

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the best pages of each query."""
        if len(self._pool.chunks) > WHOLE_POOL:
            return self._among_candidates(queries, depth)
        tokens = [self._pool.encoder.encode_query(query.text).tokens for query in queries]
        return [self._best(scores, depth) for scores in self._all_scores(tokens)]

    def _among_candidates(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        lists = zip(*(arm.rank(queries, CANDIDATES) for arm in self._arms), strict=True)
        ranked: list[Ranked | Lost] = []
        for query, found in zip(queries, lists, strict=True):
            ids = {page for one in found if not isinstance(one, Lost) for page, _ in one}
            ranked.append(score_pages(self._pool, query.text, ids)[:depth])
        return ranked

    def _all_scores(self, queries: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return queries × pages. Blocks of pages are multiplied with the tokens of all queries at once."""
        stacked = np.concatenate(queries).T
        starts = np.cumsum([0, *(len(tokens) for tokens in queries[:-1])])
        lengths = np.array([len(tokens) for tokens in queries], dtype=np.float32)
        scores = np.empty((len(queries), len(self._pool.chunks)), dtype=np.float32)
        place = 0
        for store in self._pool.stores:
            for best in store.best_matches(stacked, pages=_BLOCK):
                scores[:, place : place + len(best)] = (np.add.reduceat(best, starts, axis=1) / lengths).T
                place += len(best)
        return scores

    def _best(self, scores: NDArray[np.float32], depth: int) -> list[tuple[str, float]]:
        written = np.round(scores.astype(np.float64), DIGITS)
        order = np.argsort(-written, kind="stable")[:depth]
        return [(self._pool.chunks[place].id, float(written[place])) for place in order]


def score_pages(pool: Pool, text: str, ids: set[str]) -> list[tuple[str, float]]:
    """Return some pages with their late-interaction scores for a query, best first, ties by ID."""
    places = sorted(pool.places[page] for page in ids)
    scores = pool.max_similarities(pool.encoder.encode_query(text).tokens, places)
    found = ((pool.chunks[place].id, rounded(score)) for place, score in zip(places, scores, strict=True))
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))
