"""Finds words in a row that texts and a prompt have in common, in whatever writing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rop_otel.core.prompt.steps import Steps

RUN: Final = 6
"""Words in a row by which a part of a text is known."""

_ALONE: Final = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
"""Letters of languages that are written without spaces between the words: each counts as one."""

_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")

_SPACED: Final = bytes(ord(char.lower()) if (char := chr(code)).isalnum() and code < 128 else 32 for code in range(256))
"""Small letters, and spaces in the place of all that is in no word; of ASCII, for which this is faster."""

_WORD_STEPS: Final = 100
"""Steps to compare one word."""


class Run(NamedTuple):
    """Words in a row that a text and the prompt have in common.

    Args:
        length: How many.
        at: Place of the first one among the words of the prompt.
        text: Number of the text.
    """

    length: int
    at: int
    text: int


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    if text.isascii():
        return text.encode().translate(_SPACED).decode().split()
    return _WORD.findall(_small(text))


def places_of_words(text: str) -> list[int]:
    """Return where each word of a text begins."""
    return [found.start() for found in _WORD.finditer(_small(text))]


def _small(text: str) -> str:
    """Return a text in small letters, each in its place: only one letter of Unicode has two small ones."""
    return text.replace("\u0130", "i").lower()


class WordRuns:
    """The words of a prompt, by those in a row.

    Args:
        said: The words; None where one part ends and another begins.
        steps: That the search may take.
    """

    __slots__ = ("_places", "_said", "_steps")

    def __init__(self, said: Sequence[str | None], steps: Steps) -> None:
        self._said = said
        self._steps = steps
        self._places: dict[int, dict[tuple[str | None, ...], int]] = {}

    def of(self, number: int, words: Sequence[str]) -> Iterator[Run]:
        """Yield the longest runs of a text, in its order; of one that is shorter than a run, all its words.

        Args:
            number: Of the text.
            words: Of the text.
        """
        length = min(RUN, len(words))
        places = self._in_a_row(length) if length else {}
        start = 0
        while length and start + length <= len(words):
            at = places.get(tuple(words[start : start + length]))
            if at is None:
                start += 1
                continue
            first, end = self._extended(words, start, at, length)
            yield Run(end - first, at - (start - first), number)
            start = end - length + 1  # a new one holds the word that ended this one

    def _extended(self, words: Sequence[str], start: int, at: int, length: int) -> tuple[int, int]:
        """Return the first word of a run and the one behind its last, of all that the prompt has in common there."""
        said = self._said
        first, end = start, start + length
        before, behind = at - 1, at + length
        while first and before >= 0 and words[first - 1] == said[before]:
            first, before = first - 1, before - 1
        while end < len(words) and behind < len(said) and words[end] == said[behind]:
            end, behind = end + 1, behind + 1
        self._steps.take(_WORD_STEPS * (end - first))
        return first, end

    def _in_a_row(self, length: int) -> dict[tuple[str | None, ...], int]:
        found = self._places.get(length)
        if found is None:
            said = self._said
            rows = zip(*(said[start:] for start in range(length)), strict=False)
            found = self._places[length] = {}
            for at, row in enumerate(rows):
                found.setdefault(row, at)
        return found
