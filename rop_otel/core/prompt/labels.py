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
        labels = tuple(label for each in passages if (label := read(each)))
        if len(labels) == len(passages):
            if len(set(labels)) == len(labels):
                return labels
            repeated = repeated or labels
    return repeated


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
    return _id_in(passage.before, passage.id) or _id_in(
        head[: head.find("]") + 1] if head[:1] == "[" else "", passage.id
    )


def _id_in(said: str, wanted: str) -> str | None:
    for found in re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", said):
        opened = said.rfind("[", 0, found.start())
        closed = said.find("]", found.end())
        inside = said[opened + 1 : closed]
        if 0 <= opened < closed and "]" not in inside and "[" not in inside and "\n" not in inside:
            return inside.strip()
        if _NAMED.search(said, 0, found.start()) or _HEADS.match(said, found.end()):
            return wanted
    return None


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
