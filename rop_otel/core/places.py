"""Where a text holds others: all of them at once, in a time that grows with what there is to read.

Every part of :data:`_SPAN` characters holds one of the pieces of :data:`_PIECE` that begin at multiples of
:data:`_STRIDE`. So each text that is long enough is found by a few pieces of it, and most of what is searched is
passed over. Where it stands the text itself is compared. Texts that repeat themselves or one another could be compared
at every place; when that takes longer than a number of steps for each character, the search gives up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Final

__all__ = ["places_in"]

_STRIDE: Final = 32
_PIECE: Final = 16
_SPAN: Final = _STRIDE + _PIECE - 1
"""Characters of a longer text by which it is looked for."""

_KEY: Final = 8
"""Characters at the beginning of a shorter text by which it is looked for."""

_SHARED: Final = 4
"""Texts that may be looked for by the same characters; of more, others are tried."""

_STEPS: Final = 32
"""Steps for each character, one about a nanosecond: about a tenth of a second for three million characters."""

_FREE_STEPS: Final = 8_000_000
_PLACE_STEPS: Final = 64
"""What it takes to look at a place once."""

_FOUND_STEPS: Final = 512
"""What it takes to keep a place; texts that do not overlap have few, for how long they are."""

_COMPARED: Final = 16
"""Characters that are compared in one step."""


def places_in(prompt: str, texts: Iterable[str]) -> dict[str, list[int]] | None:
    """Return where a prompt holds texts: at the beginnings of words, and right behind one another.

    Args:
        prompt: The prompt.
        texts: Not empty ones.

    Returns:
        The places by the text; None where the search gave up, since the texts repeat themselves or one another.
    """
    wanted = set(texts)
    longer = {text for text in wanted if len(text) >= _SPAN}
    steps = _Steps(len(prompt) + sum(map(len, wanted)))
    try:
        standing = _standing(prompt, longer, steps)
        shorter = _Shorter(prompt, wanted - longer, steps)
        return _reached(prompt, standing, shorter)
    except _TooManyStepsError:
        return None


class _TooManyStepsError(Exception):
    """The search has taken all its steps."""


class _Steps:
    """The steps that a search may take."""

    def __init__(self, characters: int) -> None:
        self._left = _FREE_STEPS + _STEPS * characters

    def take(self, number: int) -> None:
        """Take some, before the work is done."""
        self._left -= number
        if self._left < 0:
            raise _TooManyStepsError


def _reached(prompt: str, standing: Mapping[int, list[str]], shorter: _Shorter) -> dict[str, list[int]]:
    """Return the places of texts that begin with a word, or where another one of them ends."""
    held: dict[str, list[int]] = {}
    reached: set[int] = set()
    ahead = [at for at in standing if _begins(prompt, at)]
    ahead += shorter.beginnings()
    while ahead:
        at = ahead.pop()
        if at in reached:
            continue
        reached.add(at)
        for text in (*standing.get(at, ()), *shorter.at(at)):
            held.setdefault(text, []).append(at)
            ahead.append(at + len(text))
    return {text: sorted(places) for text, places in held.items()}


def _begins(prompt: str, at: int) -> bool:
    return not (at and prompt[at - 1].isalnum() and prompt[at].isalnum())


def _standing(prompt: str, texts: Collection[str], steps: _Steps) -> dict[int, list[str]]:
    """Return the texts that stand in a prompt, by their place; each has at least :data:`_SPAN` characters."""
    standing: dict[int, list[str]] = {}
    spans = _spans(texts)
    for span, places in _places_of(prompt, spans).items():
        for text, before in spans[span]:
            steps.take(len(places) * (_PLACE_STEPS + len(text) // _COMPARED))
            found = [at - before for at in places if at >= before and prompt.startswith(text, at - before)]
            steps.take(len(found) * _FOUND_STEPS)
            for at in found:
                standing.setdefault(at, []).append(text)
    return standing


def _spans(texts: Collection[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the texts, each with a place in it, by the :data:`_SPAN` characters that stand there.

    Documents may share their beginning, a title perhaps, and their end: then others of their characters are taken.
    """
    spans: dict[str, list[tuple[str, int]]] = {}
    left = texts
    for quarter in (0, 4, 2, 1, 3):
        groups: dict[str, list[tuple[str, int]]] = {}
        for text in left:
            at = (len(text) - _SPAN) * quarter // 4
            groups.setdefault(text[at : at + _SPAN], []).append((text, at))
        left = []
        for span, group in groups.items():
            if len(group) > _SHARED and quarter != 3:
                left += [text for text, _ in group]
            else:
                spans.setdefault(span, []).extend(group)
    return spans


def _places_of(prompt: str, spans: Collection[str]) -> dict[str, list[int]]:
    """Return every place in a prompt of texts that have :data:`_SPAN` characters each."""
    pieces, more = _pieces(spans)
    starts = range(0, len(prompt) - _PIECE + 1, _STRIDE) if pieces else ()
    places: dict[str, list[int]] = {}
    for start in [start for start in starts if prompt[start : start + _PIECE] in pieces]:
        piece = prompt[start : start + _PIECE]
        for before in (pieces[piece], *more.get(piece, ())):
            span = prompt[start - before : start - before + _SPAN] if start >= before else ""
            if span in spans:
                places.setdefault(span, []).append(start - before)
    return places


def _pieces(spans: Iterable[str]) -> tuple[dict[str, int], dict[str, set[int]]]:
    """Return where in its text each piece begins, and in which other places, if it is in several."""
    places = range(_STRIDE)
    cut = itemgetter(*(slice(at, at + _PIECE) for at in places))
    first: dict[str, int] = {}
    more: dict[str, set[int]] = {}
    for span in spans:
        pieces = cut(span)
        size = len(first)
        if first.keys().isdisjoint(pieces):
            first.update(zip(pieces, places, strict=True))
        if len(first) < size + _STRIDE:
            for at, piece in enumerate(pieces):
                if first.setdefault(piece, at) != at:
                    more.setdefault(piece, set()).add(at)
    return first, more


class _Shorter:
    """Texts that are looked for at every beginning of a word.

    Args:
        prompt: Where they are looked for.
        texts: Each shorter than :data:`_SPAN`.
        steps: What the search may take.
    """

    def __init__(self, prompt: str, texts: set[str], steps: _Steps) -> None:
        self._prompt = prompt
        self._texts = texts
        self._steps = steps
        self._lengths: dict[str, set[int]] = {}
        for text in texts:
            self._lengths.setdefault(text[:_KEY], set()).add(len(text))
        self._widths = {len(key) for key in self._lengths}

    def beginnings(self) -> Iterator[int]:
        """Yield where one may stand at the beginning of a word."""
        prompt, lengths = self._prompt, self._lengths
        for at in _beginnings(prompt, lengths):
            self._steps.take(_PLACE_STEPS)
            if any(prompt[at : at + width] in lengths for width in self._widths):
                yield at

    def at(self, at: int) -> set[str]:
        """Return those that stand at a place."""
        prompt, lengths = self._prompt, self._lengths
        keys = {key for width in self._widths if (key := prompt[at : at + width]) in lengths}
        near = {prompt[at : at + length] for key in keys for length in lengths[key]}
        self._steps.take(_PLACE_STEPS * (len(self._widths) + len(near)))
        return near & self._texts


def _beginnings(prompt: str, keys: Collection[str]) -> Iterator[int]:
    """Yield where in a prompt a word begins, or what is no letter stands, with letters as these keys have them.

    A place where no key stands may be among them, but by far the most of a prompt is passed over.
    """
    if not keys:
        return
    first, *others = (f"[{''.join(map(re.escape, sorted(set(each))))}]" for each in zip(*keys, strict=False))
    pattern = f"{first}(?={''.join(others)})(?:(?<![^\\W_].)|(?<=[\\W_]))"
    for match in re.finditer(pattern, prompt):
        yield match.start()
