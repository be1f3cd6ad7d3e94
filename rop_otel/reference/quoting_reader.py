"""The demo's extractive reader for passages from anywhere: it quotes sentences, and is no language model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from rop_otel.reference.index.lexical import LexicalIndex
from rop_otel.reference.query import analyse
from rop_otel.reference.stages.extractive_reader import read
from rop_otel.reference.stages.hits import Packed
from rop_otel.reference.stages.packing import write_context
from rop_otel.reference.words import Stemmer

_CITATION: Final = re.compile(r" \[S\d+\]")


class Titled(Protocol):
    """A passage with a title."""

    @property
    def id(self) -> str:
        """Its ID."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def text(self) -> str:
        """Its text."""


class ExtractiveReader:
    """Quotes the one or two sentences that cover most of a question; not made for several threads at once.

    Args:
        texts: All passages that it may be shown: a word counts the more, the fewer of them hold it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._lexical = LexicalIndex(("", text) for text in texts)
        self._stemmer = Stemmer()

    def __call__(self, question: str, passages: Sequence[Titled], /) -> str:
        """Return the sentences without the labels that they are cited by, or the words of an abstention."""
        packed = [
            Packed(
                id=each.id, scope="", label=f"S{number}", title=each.title, text=f"{each.title}: {each.text}", tokens=0
            )
            for number, each in enumerate(passages, 1)
        ]
        answer = read(self._lexical, self._stemmer, analyse(question), write_context(packed))
        return _CITATION.sub("", answer.text)
