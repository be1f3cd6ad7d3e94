"""Indexing a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rop_otel.reference.corpus.chunks import Chunk, Corpus
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index.cache import Progress, cached_vectors
from rop_otel.reference.index.lexical import LexicalIndex
from rop_otel.reference.index.vectors import VectorIndex, VectorStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Everything that retrieval looks things up in.

    Args:
        corpus: What is indexed; a passage's place is its place in ``corpus.chunks``.
        places: Chunk ID to place.
        store: Passage and token vectors.
        vectors: Nearest passages.
        lexical: Passages by words.
    """

    corpus: Corpus
    places: dict[str, int]
    store: VectorStore
    vectors: VectorIndex
    lexical: LexicalIndex

    def chunk(self, chunk_id: str) -> Chunk:
        """Return a passage by its ID."""
        return self.corpus.chunks[self.places[chunk_id]]


def build_index(
    corpus: Corpus, encoder: Encoder, *, cache: Path | None = None, progress: Progress | None = None
) -> Index:
    """Index a corpus; vectors come from the cache where it holds them.

    Args:
        corpus: What to index.
        encoder: What makes the vectors.
        cache: Folder for cached vectors; the user's by default.
        progress: Called with the passages encoded so far and in all.
    """
    chunks = corpus.chunks
    store = cached_vectors(encoder, [chunk.titled_text for chunk in chunks], folder=cache, progress=progress)
    return Index(
        corpus=corpus,
        places={chunk.id: place for place, chunk in enumerate(chunks)},
        store=store,
        vectors=VectorIndex(store.vectors),
        lexical=LexicalIndex((chunk.title if corpus.titles_searched else "", chunk.text) for chunk in chunks),
    )
