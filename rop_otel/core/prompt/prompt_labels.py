"""Reads under which label a prompt shows each passage."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

NAMES: Final = "source|document|doc|passage|context|reference|ref|article|chunk|result|snippet|excerpt|citation"
"""Words that a number which is a label follows."""

_NUMBERED: Final = r"\^?[A-Za-z]{0,20}[ _:#.-]?\d{1,9}"
"""What stands in brackets: a number, with a word before it perhaps."""

_BEGINNING: Final = 200
"""Characters at the beginning of a passage in which its label is looked for."""


class Labelled(NamedTuple):
    """A passage as far as its label is concerned.

    Args:
        before: What stands before it, behind the passage before it.
        text: Of the passage, which may begin with its label.
        id: Of the passage, which may be its label; empty: none.
    """

    before: str
    text: str
    id: str


_Read: TypeAlias = Callable[[Labelled], str | None]


def labels_of(passages: Sequence[Labelled], *, pattern: re.Pattern[str] | None = None) -> tuple[str, ...] | None:
    """Return the label of each passage, all in one form; None where no form gives each of them one.

    The forms: ``[1]``, ``[S1]``, ``[doc1]``, ``[^1]``, ``【1】``, ``<document index="1">``, ``Source 1:``,
    ``Source ID: 1``, ``(1)``, ``1.``, and the ID, in brackets or behind ``id:``. Other words may stand between a label
    and its passage. Round brackets and ``【】`` are part of a label, since citations have them too.

    Args:
        passages: In the order of the prompt; none have no labels.
        pattern: How a label is written, instead; its first group, else all of it, is the label.
    """
    if not passages:
        return None
    repeated: tuple[str, ...] | None = None
    for read in _FORMS if pattern is None else (_by(pattern),):
        labels = _read_all(passages, read)
        if labels is not None and len(set(labels)) == len(labels):
            return labels
        repeated = repeated or labels
    return repeated


def _read_all(passages: Sequence[Labelled], read: _Read) -> tuple[str, ...] | None:
    labels: list[str] = []
    for passage in passages:
        label = read(passage)
        if not label:
            return None
        labels.append(label)
    return tuple(labels)


def _by(*patterns: re.Pattern[str]) -> _Read:
    """Return what reads the label by the first pattern that finds any, the last it finds before a passage."""

    def read(passage: Labelled) -> str | None:
        for pattern in patterns:
            ahead = deque(pattern.finditer(passage.before), maxlen=1)
            found = ahead[0] if ahead else pattern.match(passage.text[:_BEGINNING].lstrip())
            if found is not None:
                return next((group for group in found.groups() if group), found[0]).strip()
        return None

    return read


def _form(*patterns: str) -> _Read:
    return _by(*(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns))


def _by_id(passage: Labelled) -> str | None:
    """Return the ID, or what stands in brackets with it: before the passage, or where it begins."""
    if not passage.id:
        return None
    head = passage.text[:_BEGINNING].lstrip()
    own = head[: head.find("]") + 1] if head[:1] == "[" else ""
    return _id_in(passage.before, passage.id) or _id_in(own, passage.id)


def _id_in(said: str, wanted: str) -> str | None:
    start = said.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not (_in_a_word(said, start) or _in_a_word(said, end)):
            opened, closed = said.rfind("[", 0, start), said.find("]", end)
            inside = said[opened + 1 : closed]
            if 0 <= opened < closed and "]" not in inside and "[" not in inside and "\n" not in inside:
                return inside.strip()
            if _NAMED.search(said, 0, start) or _HEADS.match(said, end):
                return wanted
        start = said.find(wanted, start + 1)
    return None


def _in_a_word(text: str, at: int) -> bool:
    """Return whether a place is between two characters of one word."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


_NAMED: Final = re.compile(r"(?i)\b(?:id|key|source|citation)\"?'?\s*[:=]\s*[\"']?\Z")
_HEADS: Final = re.compile(r"[\"']?[:>)\]]")

_FORMS: Final[tuple[_Read, ...]] = (
    _form(rf"^[^\S\n]*\[({_NUMBERED})\]", rf"\[({_NUMBERED})\]"),
    _form(r"(【\d{1,9}】)"),
    _form(rf"<(?:{NAMES})\b[^<>]{{0,100}}?\b(?:index|id|number|n)\s*=\s*[\"']?(\d{{1,9}})\b"),
    _form(rf"<(?:{NAMES})[ _-]?(\d{{1,9}})>"),
    _form(rf"\b(?:{NAMES})(?:[ _](?:id|index|number|no\.?))?\s{{0,3}}[#:]?\s{{0,3}}(\d{{1,9}})\b"),
    _form(r"^[^\S\n]*(\(\d{1,9}\))", r"(\(\d{1,9}\))\s*\Z"),
    _form(r"^[^\S\n]*#{0,6}[^\S\n]*(\d{1,9})[.:)](?=\s|\Z)", r"(?<!\S)(\d{1,9})[.:)]\s*\Z"),
    _by_id,
)
