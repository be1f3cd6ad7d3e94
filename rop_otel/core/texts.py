"""Texts in a prompt: which of them it holds, and where."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
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
    wanted = [words for text in texts if (words := _WORD.findall(text.lower()))]
    if not wanted:
        return False
    said = _WORD.findall(prompt.lower())
    lengths = {min(_RUN, len(words)) for words in wanted}
    runs = {run for length in lengths for run in _in_a_row(said, length)}
    return any(run in runs for words in wanted for run in _in_a_row(words, min(_RUN, len(words))))


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
    widths = {len(key) for key in lengths}
    begins = _beginnings(prompt, lengths)
    ahead = [at for width in widths for at in begins if prompt[at : at + width] in lengths]
    reached: set[int] = set()
    held: dict[str, list[int]] = {}
    while ahead:
        at = ahead.pop()
        if at in reached:
            continue
        reached.add(at)
        keys = [prompt[at : at + width] for width in widths]
        near = {prompt[at : at + length] for key in keys for length in lengths.get(key, ())}
        for text in (text for head in near for text in heads.get(head, ()) if prompt.startswith(text, at)):
            held.setdefault(text, []).append(at)
            ahead.append(at + len(text))
    return {text: sorted(places) for text, places in held.items()}


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
    longest_first = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    wholes = {place: texts[place] for place in longest_first if texts[place]}
    heads = {place: text[:_HEAD] for place, text in wholes.items() if len(text) > _HEAD}
    held = places_in(prompt, [*wholes.values(), *heads.values()])
    ahead = {piece: iter(starts) for piece, starts in held.items()}
    taken = bytearray(len(prompt))  # no shorter text is found inside of a longer one
    found: dict[int, tuple[int, int]] = {}
    for pieces in (wholes, heads):
        left = {place: piece for place, piece in pieces.items() if place not in found}
        for place, piece in left.items():
            at = next((at for at in ahead.get(piece, ()) if _stands(piece, prompt, at, taken)), None)
            if at is not None:
                found[place] = at, at + len(piece)
                taken[at : at + len(piece)] = b"\1" * len(piece)
        missing = {piece for place, piece in left.items() if place not in found}
        if any(piece in missing for place, piece in left.items() if place in found):
            return None
    others = {text for place, text in wholes.items() if place not in found}
    if not found or any(_is_free(text[:_HEAD], at, taken) for text in others for at in held.get(text[:_HEAD], ())):
        return None
    if holds_some_of(others, without(prompt, found.values())):
        return None
    return {place: found[place][0] for place in sorted(found, key=found.__getitem__)}


def _beginnings(prompt: str, keys: Collection[str]) -> list[int]:
    """Return where in a prompt a word begins, or what is no letter stands, with letters as these keys have them.

    A place where no key stands may be among them, but by far the most of a prompt is passed over.
    """
    if not keys:
        return []
    first, *others = (f"[{''.join(map(re.escape, sorted(set(each))))}]" for each in zip(*keys, strict=False))
    pattern = f"{first}(?={''.join(others)})(?:(?<![^\\W_].)|(?<=[\\W_]))"
    return [match.start() for match in re.finditer(pattern, prompt)]


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
