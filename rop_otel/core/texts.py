"""Texts in a prompt: which of them it holds, and where."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

__all__ = ["holds_some_of", "places_in", "plain_text", "shown_in", "without"]

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


def places_in(prompt: str, texts: Iterable[str]) -> dict[str, list[int]]:
    """Return where a prompt holds texts: at the beginnings of words, and right behind one another.

    Args:
        prompt: The prompt.
        texts: Not empty ones. All are looked for at once, so that twice as many take twice as long.
    """
    lengths: dict[str, set[int]] = {}
    heads: dict[str, list[str]] = {}
    for text in set(texts):
        lengths.setdefault(text[:_KEY], set()).add(min(len(text), _HEAD))
        heads.setdefault(text[:_HEAD], []).append(text)
    widths = sorted({len(key) for key in lengths})
    held: dict[str, set[int]] = {}
    reached: set[int] = set()
    for start in _starts(prompt, lengths):
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
            for text in (text for head in near for text in heads.get(head, ()) if prompt.startswith(text, at)):
                held.setdefault(text, set()).add(at)
                if at + len(text) not in reached:
                    ahead.append(at + len(text))
    return {text: sorted(starts) for text, starts in held.items()}


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
    words.

    Args:
        prompt: The prompt, as :func:`plain_text` writes it.
        texts: The texts, as :func:`plain_text` writes them; an empty one is not shown.
    """
    pieces = {piece for text in texts if text for piece in (text, text[:_HEAD])}
    held = places_in(prompt, pieces)
    ahead = {piece: iter(starts) for piece, starts in held.items()}
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
    if holds_some_of(others, without(prompt, ends.items())):
        return None
    return {place: found[place] for place in sorted(found, key=found.__getitem__)}


def _starts(prompt: str, keys: Collection[str]) -> Iterator[int]:
    """Give where in a prompt words begin like one of these keys may; what begins with no letter may begin anywhere."""
    ways = []
    for within in (True, False):
        alike = [key for key in keys if key[0].isalnum() is within]
        classes = [f"[{''.join(map(re.escape, sorted(set(each))))}]" for each in zip(*alike, strict=False)]
        if classes:
            ways.append(("(?<![^\\W_])" if within else "") + classes[0] + f"(?={''.join(classes[1:])})")
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
