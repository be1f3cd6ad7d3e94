"""A sentence encoder: one vector per text, and one per token of it, from the same pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rop_otel.reference.models import ModelFiles
from rop_otel.reference.session import Session

_BATCH_PIECES = 2048
"""Pieces per batch, padding included: few long texts or many short ones."""

_QUERIES = 256
"""Queries that are remembered: about 10 MB of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """One encoded text.

    Args:
        place: Its place among the texts given.
        vector: Unit length.
        tokens: One unit vector per piece, special ones included.
    """

    place: int
    vector: NDArray[np.float32]
    tokens: NDArray[np.float32]


class Encoder:
    """Encodes queries and passages.

    Args:
        files: The model.

    Raises:
        PipelineError: It cannot be loaded.
    """

    def __init__(self, files: ModelFiles) -> None:
        self._session = Session(files)
        self.files = files
        self.implementation = self._session.implementation
        self.sha256 = self._session.sha256
        self._query = lru_cache(maxsize=_QUERIES)(self._encode_query)
        self.dimensions = len(self.encode_query("").vector)
        self._count = lru_cache(maxsize=200_000)(self._count_pieces)

    def encode_query(self, text: str) -> Encoded:
        """Encode one query; the last few are remembered, since several stages ask for the same."""
        return self._query(text)

    def _encode_query(self, text: str) -> Encoded:
        (encoded,) = self._batch([(0, self._session.tokenize([self.files.query_prefix + text])[0])])
        return encoded

    def tokenize_passages(self, texts: Sequence[str]) -> list[Any]:
        """Return the encodings of passages; each will have ``len(encoding.ids)`` token vectors."""
        return self._session.tokenize([self.files.passage_prefix + text for text in texts])

    def encode_passages(self, encodings: Sequence[Any]) -> Iterator[Encoded]:
        """Encode tokenized passages in batches of like length; each is yielded with its place, not in order."""
        order = sorted(range(len(encodings)), key=lambda place: (len(encodings[place].ids), place))
        batch: list[tuple[int, Any]] = []
        for place in order:
            if batch and len(encodings[place].ids) * (len(batch) + 1) > _BATCH_PIECES:
                yield from self._batch(batch)
                batch = []
            batch.append((place, encodings[place]))
        if batch:
            yield from self._batch(batch)

    def count_tokens(self, text: str) -> int:
        """Return how many pieces of the model's tokenizer a text has, special ones not counted."""
        return self._count(text)

    def _count_pieces(self, text: str) -> int:
        return self._session.count(text)

    def _batch(self, batch: Sequence[tuple[int, Any]]) -> list[Encoded]:
        states, mask = self._session.run([encoding for _, encoding in batch])
        encoded = []
        for row, (place, _) in enumerate(batch):
            tokens = states[row, : int(mask[row].sum())]
            pooled = tokens[0] if self.files.pooling == "cls" else tokens.mean(axis=0)
            encoded.append(Encoded(place=place, vector=_unit(pooled), tokens=_unit(tokens)))
        return encoded


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
