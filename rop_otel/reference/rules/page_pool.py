"""The pages that rules search, with their vectors where a rule asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rop_otel.core.ranking import Page
from rop_otel.reference.corpus import Chunk
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import VectorStore
from rop_otel.reference.index.cache import cached_vectors

SHARD = 2048
"""Pages encoded at a time: what is lost where the encoding is stopped."""

Progress = Callable[[int, int], None]
"""Called with pages encoded and pages in all."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Pages in the order of their IDs by code point; a page's place is its place there.

    Args:
        chunks: Each page as one passage.
        encoder: Makes vectors of title and text.
        cache: Folder for vectors; the user's by default.
        progress: Called with the texts encoded so far and in all.
    """

    chunks: tuple[Chunk, ...]
    encoder: Encoder
    cache: Path | None = None
    progress: Progress | None = None

    @cached_property
    def places(self) -> dict[str, int]:
        """Place by ID."""
        return {chunk.id: place for place, chunk in enumerate(self.chunks)}

    @cached_property
    def stores(self) -> list[VectorStore]:
        """Vectors of so many pages each, computed where the cache does not hold them."""
        return list(self._encoded())

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Pages × dimensions, unit length."""
        return np.concatenate([store.vectors for store in self.stores])

    def max_similarities(self, query: NDArray[np.float32], places: list[int]) -> list[float]:
        """Return the late-interaction score of pages for one query's token vectors, in the order of the places."""
        scores: dict[int, float] = {}
        for number, store in enumerate(self.stores):
            first = number * SHARD
            here = [place for place in places if first <= place < first + SHARD]
            if here:
                found = store.max_similarities(query, [place - first for place in here])
                scores.update(zip(here, found, strict=True))
        return [scores[place] for place in places]

    def _encoded(self) -> Iterator[VectorStore]:
        texts = [chunk.titled_text for chunk in self.chunks]
        for first in range(0, len(texts), SHARD):
            yield cached_vectors(
                self.encoder, texts[first : first + SHARD], folder=self.cache, progress=self._offset(first)
            )
            if self.progress:
                self.progress(min(first + SHARD, len(texts)), len(texts))

    def _offset(self, first: int) -> Progress | None:
        progress = self.progress
        return None if progress is None else lambda done, _: progress(first + done, len(self.chunks))


def create_pool(
    pages: Iterable[Page], encoder: Encoder, *, cache: Path | None = None, progress: Progress | None = None
) -> Pool:
    """Return a pool of pages, none of which is encoded yet."""
    chunks = (Chunk(id=page.id, item=page.id, scope="corpus", title=page.title, text=page.text) for page in pages)
    ordered = tuple(sorted(chunks, key=lambda chunk: chunk.id))
    return Pool(chunks=ordered, encoder=encoder, cache=cache, progress=progress)
