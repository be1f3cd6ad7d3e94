"""Indexes over a corpus: vectors, token vectors, words."""

from __future__ import annotations

from rop_otel.reference.index.build import Index, build_index
from rop_otel.reference.index.lexical import LexicalIndex
from rop_otel.reference.index.vectors import VectorIndex, VectorStore

__all__ = ["Index", "LexicalIndex", "VectorIndex", "VectorStore", "build_index"]
