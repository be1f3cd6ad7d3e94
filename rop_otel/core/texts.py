"""Texts in a prompt: which of them it holds, and where."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from rop_otel.core.places import places_in

__all__ = ["holds_some_of", "places_in", "plain_text", "shown_in", "without"]

_HEAD: Final = 100
"""Characters at the beginning of a longer text by which it is known where a prompt shows a part of it."""

_RUN: Final = 6
"""Words in a row by which it is known that a prompt shows a text in part, or in another writing."""

_ESCAPED: Final = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt]))?")
_WORD: Final = re.compile(r"\w+")


def plain_text(text: str) -> str:
    """Return a text with single spaces, and as it was before JSON, ``repr()`` or HTML escaped it.

    Templates do that to documents: what a prompt holds is compared with their text in this form.
    """
    if "\\" in text:
        text = _ESCAPED.sub(_unescaped, text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON writes some characters as two
    if "&" in text:
        with suppress(ValueError):  # a number of more digits than Python reads
            text = html.unescape(text)
    return " ".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else " " if escape[3] else ""


def holds_some_of(texts: Iterable[str], prompt: str) -> bool:
    """Return whether a prompt holds words in a row of one of these texts, or a shorter one's words, in any writing.

    Then it may show that text, and nobody can say that it does not.
    """
    wanted: dict[int, list[list[str]]] = {}
    for text in texts:
        words = _WORD.findall(text.lower())
        wanted.setdefault(min(_RUN, len(words)), []).append(words)
    wanted.pop(0, None)
    said = _WORD.findall(prompt.lower()) if wanted else []
    for length, those in wanted.items():
        runs = set(_in_a_row(said, length))
        if not all(runs.isdisjoint(_in_a_row(words, length)) for words in those):
            return True
    return False


def _in_a_row(words: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)


def without(prompt: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a prompt with a null character in the place of each of these parts, which may overlap."""
    rest = []
    last = 0
    for start, end in sorted(spans):
        if start >= last:
            rest.append(prompt[last:start])
        last = max(last, end)
    return "\0".join([*rest, prompt[last:]])


def shown_in(prompt: str, texts: Sequence[str]) -> dict[int, int] | None:
    """Return which texts a prompt shows, by their place in the list, and where, in its order; None: it cannot be told.

    A text is shown where it is in the prompt, or else the beginning of a longer one. What the prompt shows is not known
    where it shows none, fewer of several that are alike, or of one only words in a row or what runs on into other
    words; nor where the texts repeat themselves or one another so much that :func:`places_in` gives up.

    Args:
        prompt: The prompt, as :func:`plain_text` writes it.
        texts: The texts, as :func:`plain_text` writes them; an empty one is not shown.
    """
    longest_first = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    wholes = {place: texts[place] for place in longest_first if texts[place]}
    shown = _Shown(prompt)
    if not (shown.look(wholes.values()) and shown.take(wholes)):
        return None
    others = {place: text for place, text in wholes.items() if place not in shown.found}
    heads = {place: text[:_HEAD] for place, text in others.items() if len(text) > _HEAD}
    if others and not (shown.look({*wholes.values(), *_heads(wholes.values())}) and shown.take(heads)):
        return None
    left = {text for place, text in others.items() if place not in shown.found}
    if not shown.found or shown.runs_on(_heads(left)):
        return None
    if holds_some_of(left, without(prompt, shown.found.values())):
        return None
    return {place: shown.found[place][0] for place in sorted(shown.found, key=shown.found.__getitem__)}


def _heads(texts: Iterable[str]) -> set[str]:
    return {text[:_HEAD] for text in texts}


class _Shown:
    """What was found in a prompt so far: the part of it that each text takes, by the text's place in its list."""

    def __init__(self, prompt: str) -> None:
        self.found: dict[int, tuple[int, int]] = {}
        self._prompt = prompt
        self._taken = bytearray(len(prompt))  # no shorter text is found inside of a longer one
        self._held: dict[str, list[int]] = {}

    def look(self, pieces: Iterable[str]) -> bool:
        """Look for texts; False where nobody can say where they are."""
        held = places_in(self._prompt, pieces)
        self._held = held or {}
        return held is not None

    def take(self, pieces: Mapping[int, str]) -> bool:
        """Take in which of these the prompt shows; False where it shows fewer of several that are alike."""
        ahead = {piece: iter(starts) for piece, starts in self._held.items()}
        missing: set[str] = set()
        for place, piece in pieces.items():
            at = self._next(piece, ahead.get(piece, iter(())))
            if at is None:
                missing.add(piece)
            else:
                self.found[place] = at, at + len(piece)
                self._taken[at : at + len(piece)] = b"\1" * len(piece)
        return not any(piece in missing for place, piece in pieces.items() if place in self.found)

    def runs_on(self, pieces: Iterable[str]) -> bool:
        """Return whether one of these stands where nothing else does, as a part of other words."""
        return any(self._is_free(piece, at) for piece in pieces for at in self._held.get(piece, ()))

    def _next(self, piece: str, places: Iterator[int]) -> int | None:
        return next((at for at in places if self._stands(piece, at)), None)

    def _stands(self, piece: str, at: int) -> bool:
        """Return whether a place in the prompt is free, and what stands there no part of other words."""
        if not self._is_free(piece, at):
            return False
        prompt, taken, end = self._prompt, self._taken, at + len(piece)
        before = at > 0 and not taken[at - 1] and prompt[at - 1].isalnum()
        after = end < len(prompt) and not taken[end] and prompt[end].isalnum()
        return not (before and piece[0].isalnum()) and (len(piece) == _HEAD or not after)

    def _is_free(self, piece: str, at: int) -> bool:
        return self._taken.find(1, at, at + len(piece)) < 0
