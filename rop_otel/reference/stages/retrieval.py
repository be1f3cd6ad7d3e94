"""From the query to a list of candidates: two sources, fusion, boost, cut."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import Index
from rop_otel.reference.query import Query
from rop_otel.reference.stages.hits import Hit, ranked

RRF_K = 60
"""The constant of reciprocal-rank fusion in its original publication (Cormack, Clarke and Büttcher, 2009)."""

NAME_BOOST = 0.5
"""Share by which a passage's score is raised where the question spells out the name of its object."""


def search_vectors(index: Index, encoder: Encoder, query: Query, k: int) -> list[Hit]:
    """Return the k passages nearest to the query's vector."""
    return _hits(index, index.vectors.search(encoder.encode_query(query.text).vector, k))


def search_words(index: Index, query: Query, k: int) -> list[Hit]:
    """Return the k best passages by BM25 over the query's content words."""
    return _hits(index, index.lexical.search(query.terms, k))


def keep_scope(hits: list[Hit], scope: str) -> list[Hit]:
    """Keep the passages of one library."""
    return [hit for hit in hits if hit.scope == scope]


def fuse(arms: Sequence[list[Hit]], k: int = RRF_K) -> list[Hit]:
    """Fuse ranked lists by the sum of ``1 / (k + rank)``."""
    scores: dict[str, float] = {}
    scopes: dict[str, str] = {}
    for arm in arms:
        for rank, hit in enumerate(arm, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (k + rank)
            scopes[hit.id] = hit.scope
    return ranked(Hit(name, score, scopes[name]) for name, score in scores.items())


def boost_names(index: Index, query: Query, hits: list[Hit]) -> list[Hit]:
    """Raise the passages of objects whose name the query spells out."""
    names = {name.rpartition(".")[2].lower() for name in query.names}
    boosted = []
    for hit in hits:
        last = index.chunk(hit.id).item.rpartition(".")[2].lower()
        boosted.append(Hit(hit.id, hit.score * (1 + NAME_BOOST) if last in names else hit.score, hit.scope))
    return ranked(boosted)


def _hits(index: Index, found: list[tuple[int, float]]) -> list[Hit]:
    chunks = [(index.corpus.chunks[place], score) for place, score in found]
    return ranked(Hit(chunk.id, score, chunk.scope) for chunk, score in chunks)
