"""The corpus of the reference pipeline: passages, the objects to which they belong, and the questions."""

from __future__ import annotations

from rop_otel.reference.corpus.chunks import Chunk, Corpus, Item
from rop_otel.reference.corpus.own_corpus import read_corpus
from rop_otel.reference.corpus.questions import Question, bundled_questions, read_questions
from rop_otel.reference.corpus.stdlib import read_standard_library

__all__ = [
    "Chunk",
    "Corpus",
    "Item",
    "Question",
    "bundled_questions",
    "read_corpus",
    "read_questions",
    "read_standard_library",
]
