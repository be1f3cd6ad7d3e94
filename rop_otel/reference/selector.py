"""A symbol linker: picks the object that a question is about from the question's text alone.

It runs before retrieval and sees none of its lists. It can be wrong, and it can find nothing. The handoff has to
deliver the object that it chose, right or wrong.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from rop_otel.reference.corpus import Item
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import Index
from rop_otel.reference.query import analyse
from rop_otel.reference.words import Stemmer, sentences

NAME_WEIGHT, OPENING_WEIGHT, REST_WEIGHT = 1.5, 1.0, 0.3
"""What a word counts in an object's name, in the first sentence about it, and in the rest of its documentation."""

WEAK = 0.55
"""An object that scores below this in words and meaning together (at most about 2) is no selection."""


class Selector:
    """Links questions to the objects of the library that is asked about.

    A name that the question spells out decides. Otherwise words in common with an object's name and documentation,
    rare ones counting more, and the likeness of the question to its first passage are added.

    Args:
        index: The objects and the vectors of their passages.
        encoder: What made the vectors.
        stemmer: Makes word forms comparable.
    """

    def __init__(self, index: Index, encoder: Encoder, stemmer: Stemmer) -> None:
        self._items = index.corpus.items
        self._resolver = index.corpus.resolver
        self._encoder = encoder
        self._stemmer = stemmer
        self._order = {item.id: place for place, item in enumerate(self._items)}
        self._vectors = index.store.vectors[[index.places[item.chunks[0].id] for item in self._items]]
        self._by_last: dict[str, list[int]] = defaultdict(list)
        self._postings: dict[str, dict[int, float]] = defaultdict(dict)
        for place, item in enumerate(self._items):
            self._add(place, item)
        total = len(self._items)
        self._rarity = {stem: math.log(1 + total / len(found)) for stem, found in self._postings.items()}

    def link(self, question: str) -> str | None:
        """Return the key of the object that a question is about, None where none is near enough."""
        names = analyse(question).names
        spelled = [key for name in names if (key := self._resolver.resolve(name)) in self._order]
        if spelled:
            return max(spelled, key=lambda key: (key.count("."), -self._order[key]))
        scores = self._word_scores(question) + self._vectors @ self._encoder.encode_query(question).vector
        called = [place for name in names for place in self._by_last.get(name.rpartition(".")[2].lower(), ())]
        best = max(called, key=lambda place: (scores[place], -place)) if called else int(scores.argmax())
        return self._items[best].id if called or scores[best] >= WEAK else None

    def _add(self, place: int, item: Item) -> None:
        for last in {name.rpartition(".")[2].lower() for name in (item.id, *item.aliases)}:
            self._by_last[last].append(place)
        named = self._stemmer.stems(item.id.replace(".", " "))
        opening = self._stemmer.stems(next(iter(sentences(item.chunks[0].text)), ""))
        rest = self._stemmer.stems(" ".join(chunk.text for chunk in item.chunks))
        for stem in named | opening | rest:
            weight = NAME_WEIGHT * (stem in named) + OPENING_WEIGHT * (stem in opening) + REST_WEIGHT * (stem in rest)
            self._postings[stem][place] = weight / (1 + weight)

    def _word_scores(self, question: str) -> NDArray[np.float64]:
        stems = sorted(self._stemmer.stems(question) & self._postings.keys())
        total = math.fsum(self._rarity[stem] for stem in stems)
        scores = np.zeros(len(self._items))
        for stem in stems:
            for place, weight in self._postings[stem].items():
                scores[place] += weight * self._rarity[stem] / total
        return scores
