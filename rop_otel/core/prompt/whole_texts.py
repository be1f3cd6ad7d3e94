"""Finds texts that stand whole in another one, in a time that grows with what there is to read.

The text is read once, from left to right. Where a word begins, its next characters say which of the wanted texts may
stand there. What a wanted text takes is passed over, so that no shorter one is found inside of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rop_otel.core.prompt.steps import Steps

_KEY: Final = 12
"""Characters at its beginning by which a text is looked for."""

_FEW: Final = 4
"""More texts that begin alike are distinguished by the characters behind what they have in common."""

_LONG: Final = 24
"""A text of so many characters is known where it stands inside of other words, too."""

_BEGINNING: Final = re.compile(r"(?<![^\W_])[^\W_]|[^\w\s]|_")
"""Where a text may begin: at the first letter of a word, or at what is neither a letter nor a space."""

_TRY: Final = 100
_TRIED_CHARACTERS: Final = 16
"""Steps to compare one text, and characters that are compared in one more."""


class _Alike(NamedTuple):
    """Texts whose first characters are the same.

    Args:
        shared: Characters of which all have the same.
        widths: Lengths of the keys.
        texts: By the characters that follow the shared ones, the longest first.
    """

    shared: int
    widths: tuple[int, ...]
    texts: dict[str, list[str]]


class WholeTexts:
    """Texts that are looked for.

    Args:
        texts: None is empty, or begins with a space.
        steps: That the search may take.
    """

    __slots__ = ("_alike", "_steps", "_widths")

    def __init__(self, texts: Iterable[str], steps: Steps) -> None:
        groups: dict[str, list[str]] = {}
        for text in texts:
            groups.setdefault(text[:_KEY], []).append(text)
        self._alike = {key: _alike(group) for key, group in groups.items()}
        self._widths = sorted({len(key) for key in groups}, reverse=True)
        self._steps = steps

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield where each one stands in a text, in order; where several begin, the longest.

        Args:
            text: Is read from left to right.
        """
        last = 0
        while (found := self._next(text, last)) is not None:
            yield found
            last = found[0] + len(found[1])

    def _next(self, text: str, last: int) -> tuple[int, str] | None:
        """Return the next one: right behind the last one, or where a word begins."""
        if last and (here := self._at(text, last)) is not None:
            return last, here
        for beginning in _BEGINNING.finditer(text, last):
            at = beginning.start()
            if (here := self._at(text, at)) is not None:
                return at, here
        return None

    def _at(self, text: str, at: int) -> str | None:
        alike = self._alike
        for width in self._widths:
            group = alike.get(text[at : at + width])
            if group is not None and (found := self._longest(group, text, at)) is not None:
                return found
        return None

    def _longest(self, group: _Alike, text: str, at: int) -> str | None:
        behind = at + group.shared
        found = ""
        for width in group.widths:
            for wanted in group.texts.get(text[behind : behind + width], ()):
                if len(wanted) <= len(found):
                    break
                self._steps.take(_TRY + len(wanted) // _TRIED_CHARACTERS)
                if text.startswith(wanted, at) and _ends(text, at + len(wanted), wanted):
                    found = wanted
                    break
        return found or None


def _alike(texts: list[str]) -> _Alike:
    shared = _shared(min(texts), max(texts)) if len(texts) > _FEW else 0
    by_key: dict[str, list[str]] = {}
    for text in sorted(texts, key=len, reverse=True):
        by_key.setdefault(text[shared : shared + _KEY], []).append(text)
    return _Alike(shared, tuple(sorted({len(key) for key in by_key})), by_key)


def _shared(one: str, other: str) -> int:
    """Return how many characters at their beginning two texts have in common; of sorted ones all have those."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _ends(text: str, end: int, wanted: str) -> bool:
    """Return whether a short text is no part of a longer word where it ends."""
    return len(wanted) >= _LONG or end >= len(text) or not (text[end].isalnum() and wanted[-1].isalnum())
