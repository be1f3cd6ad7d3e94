"""Finds out, before texts are searched for word by word, which of them a short prompt cannot hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rop_otel.core.prompt.plain import plain_text
from rop_otel.core.prompt.word_runs import words_of

_SHORT: Final = 4
"""A prompt that is so many times shorter than the texts is read first."""

_FEW: Final = 8
"""Of fewer words, the first and last of which may stand inside of other ones, no four stand in a row for certain."""

_HEAD: Final = 400
"""Characters in which that many words stand, as a rule."""

_Row: TypeAlias = tuple[str, str, str, str]


def promising(texts: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return the texts of which a prompt may hold something, whole or six words in a row.

    Six words in a row hold four that begin at every third word of the text. It is enough to look for these.

    Args:
        texts: None is empty.
        said: The parts of the prompt; where they are not much shorter than the texts, all of these are returned.
    """
    if sum(map(len, said)) * _SHORT > sum(map(len, texts)):
        return [*texts]
    rows: set[_Row] = set()
    for part in said:
        words = words_of(part)
        rows.update(zip(words, words[1:], words[2:], words[3:], strict=False))
    return [text for text in texts if _is_promising(text, rows)]


def _is_promising(text: str, rows: set[_Row]) -> bool:
    text = plain_text(text) if "\\" in text or "&" in text else text
    words = words_of(text[:_HEAD]) if not rows else []
    if len(words) < _FEW:
        words = words_of(text)
    if len(words) < _FEW:
        return True
    return not rows.isdisjoint(zip(words[::3], words[1::3], words[2::3], words[3::3], strict=False))
