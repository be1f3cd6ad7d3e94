"""Better scores for few candidates: late interaction, a cross-encoder, or words in common; then diversity."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import Index
from rop_otel.reference.query import Query
from rop_otel.reference.session import Session
from rop_otel.reference.stages.hits import Hit, ranked
from rop_otel.reference.words import Stemmer


class Reranker(Protocol):
    """Scores passages against a query."""

    implementation: str

    def scores(self, query: Query, places: list[int]) -> list[float]:
        """Return one score per passage, higher is better."""


class LateInteraction:
    """MaxSim over the encoder's token vectors: each query token's best match in the passage, on average."""

    def __init__(self, index: Index, encoder: Encoder) -> None:
        self._store = index.store
        self._encoder = encoder
        self.implementation = f"late interaction, {encoder.implementation}"

    def scores(self, query: Query, places: list[int]) -> list[float]:
        """Return the mean best similarity of the query's tokens."""
        return self._store.max_similarities(self._encoder.encode_query(query.text).tokens, places)


class CrossEncoder:
    """A model that reads query and passage together."""

    def __init__(self, index: Index, session: Session) -> None:
        self._corpus = index.corpus
        self._session = session
        self.implementation = f"cross-encoder, {session.implementation}"

    def scores(self, query: Query, places: list[int]) -> list[float]:
        """Return the model's relevance logit (the last column, where there are several)."""
        return pair_scores(self._session, query.text, [self._corpus.chunks[place].titled_text for place in places])


class WordOverlap:
    """The fallback without a model: the share of the query's stems that a passage holds."""

    implementation = "lexical heuristic"

    def __init__(self, index: Index, stemmer: Stemmer) -> None:
        self._corpus = index.corpus
        self._stemmer = stemmer

    def scores(self, query: Query, places: list[int]) -> list[float]:
        """Return the share of the query's stems found in title and text."""
        wanted = self._stemmer.stems(query.text)
        passages = (self._corpus.chunks[place] for place in places)
        found = (len(wanted & self._stemmer.stems(f"{chunk.title} {chunk.text}")) for chunk in passages)
        return [count / max(len(wanted), 1) for count in found]


def pair_scores(cross_encoder: Session, query: str, passages: list[str]) -> list[float]:
    """Return a cross-encoder's relevance logits (the last column, where there are several) of at least one passage."""
    logits, _ = cross_encoder.run(cross_encoder.tokenize([(query, passage) for passage in passages]))
    return [float(row[-1]) for row in logits.reshape(len(passages), -1)]


def rerank(index: Index, reranker: Reranker, query: Query, hits: list[Hit], keep: int) -> list[Hit]:
    """Score candidates anew and keep the best."""
    if not hits:
        return []
    scores = reranker.scores(query, [index.places[hit.id] for hit in hits])
    return ranked(Hit(hit.id, score, hit.scope) for hit, score in zip(hits, scores, strict=True))[:keep]


def diversify(index: Index, hits: list[Hit], keep: int, weight: float) -> list[Hit]:
    """Choose passages one by one, each for its score less its likeness to those chosen (maximal marginal relevance).

    Args:
        index: Where the passages' vectors are.
        hits: Ranked passages.
        keep: Most passages.
        weight: Of the score against the likeness, 0 to 1; 1 keeps the ranking.
    """
    if not hits:
        return []
    vectors = index.store.vectors[[index.places[hit.id] for hit in hits]]
    likeness = vectors @ vectors.T
    relevance = _normalised(np.array([hit.score for hit in hits]))
    left, chosen = list(range(len(hits))), [0]
    left.remove(0)
    while left and len(chosen) < keep:
        closest = likeness[:, chosen].max(axis=1)
        best = max(left, key=lambda place: (weight * relevance[place] - (1 - weight) * closest[place], -place))
        chosen.append(best)
        left.remove(best)
    return [hits[place] for place in chosen]


def _normalised(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else np.ones_like(scores)
