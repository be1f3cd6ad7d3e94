"""Texts in a prompt: which of them it holds, and where."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

__all__ = ["holds_some_of", "plain_text", "shown_in"]

_HEAD: Final = 100
"""Characters at the beginning of a longer text by which it is known where a prompt shows a part of it."""

_KEY: Final = 8
"""Characters at the beginning of a text by which it is looked for."""

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
        text = html.unescape(text)
    return " ".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else " " if escape[3] else ""


def holds_some_of(texts: Iterable[str], prompt: str) -> bool:
    """Return whether a prompt holds words in a row of one of these texts, or a shorter one's words, in any writing.

    Then it may show that text, and nobody can say that it does not.
    """
    said: list[str] | None = None
    runs: dict[int, set[tuple[str, ...]]] = {}
    for words in filter(None, (_WORD.findall(text.lower()) for text in texts)):
        said = _WORD.findall(prompt.lower()) if said is None else said
        length = min(_RUN, len(words))
        if length not in runs:
            runs[length] = set(_in_a_row(said, length))
        if not runs[length].isdisjoint(_in_a_row(words, length)):
            return True
    return False


def _in_a_row(words: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)


def shown_in(prompt: str, texts: Sequence[str]) -> dict[int, int] | None:
    """Return which texts a prompt shows, by their place in the list, and where, in its order; None: it cannot be told.

    A text is shown where it is in the prompt, or else the beginning of a longer one. What the prompt shows is not known
    where it shows none, fewer of several that are alike, or of one only words in a row or what runs on into other
    words. All texts are looked for at once, so that twice as many take twice as long.

    Args:
        prompt: The prompt, as :func:`plain_text` writes it.
        texts: The texts, as :func:`plain_text` writes them; an empty one is not shown.
    """
    pieces = {piece for text in texts if text for piece in (text, text[:_HEAD])}
    held = _held(prompt, pieces)
    ahead = {piece: iter(sorted(starts)) for piece, starts in held.items()}
    taken = bytearray(len(prompt))  # no shorter text is found inside of a longer one
    found: dict[int, int] = {}
    ends: dict[int, int] = {}
    longest_first = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    for part in (slice(None), slice(_HEAD)):
        left = [place for place in longest_first if place not in found and len(texts[place]) > (part.stop or 0)]
        for place in left:
            piece = texts[place][part]
            at = next((at for at in ahead.get(piece, ()) if _stands(piece, prompt, at, taken)), None)
            if at is not None:
                found[place], end = at, at + len(piece)
                ends[at] = end
                taken[at:end] = b"\1" * len(piece)
        missing = {texts[place][part] for place in left if place not in found}
        if any(texts[place][part] in missing for place in left if place in found):
            return None
    others = {text for place, text in enumerate(texts) if text and place not in found}
    if not found or any(_is_free(text[:_HEAD], at, taken) for text in others for at in held.get(text[:_HEAD], ())):
        return None
    if holds_some_of(others, "\0".join(_between(prompt, ends))):
        return None
    return {place: found[place] for place in sorted(found, key=found.__getitem__)}


def _held(prompt: str, pieces: Iterable[str]) -> Mapping[str, set[int]]:
    """Return where a prompt holds texts: at the beginnings of words, and right behind one another."""
    lengths: dict[str, set[int]] = {}
    heads: dict[str, list[str]] = {}
    for piece in pieces:
        lengths.setdefault(piece[:_KEY], set()).add(min(len(piece), _HEAD))
        heads.setdefault(piece[:_HEAD], []).append(piece)
    widths = sorted({len(key) for key in lengths})
    held: dict[str, set[int]] = {}
    reached: set[int] = set()
    for start in _starts(prompt, {key[0] for key in lengths}):
        for width in widths:
            if prompt[start : start + width] in lengths:
                break
        else:  # by far the most, so nothing more is done for them
            continue
        ahead = [start]
        while ahead:
            at = ahead.pop()
            reached.add(at)
            keys = (prompt[at : at + width] for width in widths)
            near = (prompt[at : at + length] for key in keys for length in lengths.get(key, ()))
            for piece in (piece for head in near for piece in heads.get(head, ()) if prompt.startswith(piece, at)):
                held.setdefault(piece, set()).add(at)
                if at + len(piece) not in reached:
                    ahead.append(at + len(piece))
    return held


def _starts(prompt: str, firsts: set[str]) -> Iterator[int]:
    """Give where in a prompt words begin with these characters; those that are of no word begin anywhere."""
    within = "".join(re.escape(each) for each in sorted(firsts) if each.isalnum())
    others = "".join(re.escape(each) for each in sorted(firsts) if not each.isalnum())
    ways = [rf"(?<![^\W_])[{within}]"] * bool(within) + [f"[{others}]"] * bool(others)
    return (match.start() for match in re.finditer("|".join(ways), prompt)) if ways else iter(())


def _stands(piece: str, prompt: str, at: int, taken: bytearray) -> bool:
    """Return whether a place in a prompt is free, and what stands there no part of other words."""
    if not _is_free(piece, at, taken):
        return False
    end = at + len(piece)
    before = at > 0 and not taken[at - 1] and prompt[at - 1].isalnum()
    after = end < len(prompt) and not taken[end] and prompt[end].isalnum()
    return not (before and piece[0].isalnum()) and (len(piece) == _HEAD or not after)


def _is_free(piece: str, at: int, taken: bytearray) -> bool:
    return taken.find(1, at, at + len(piece)) < 0


def _between(prompt: str, ends: Mapping[int, int]) -> Iterator[str]:
    """Give what a prompt holds between the texts that were found in it."""
    last = 0
    for at in sorted(ends):
        yield prompt[last:at]
        last = ends[at]
    yield prompt[last:]
