"""Finds the labels that an answer cites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_CODE: Final = re.compile(r"(?ms)^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1`*~*[ \t]*$|\Z)|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)")
_GROUP: Final = re.compile(r"\[([^\[\]]{1,200})\]")
_SEPARATOR: Final = re.compile(r"\s*[,;]\s*")
_SPACES: Final = re.compile(r"\s+(?:and\s+)?")
_DIGITS: Final = "0123456789"
_DEFAULT: Final = re.compile(r"S\d+")


def find_citations(text: str, *, shown: Sequence[str] = (), pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """Return the labels that a text cites, in order, repeats kept, written as they were shown.

    Labels are cited in square brackets: ``[S1]``, ``[S1, S2]``, ``[S1][S3]``. Code is no prose and cites nothing.

    Args:
        text: The answer.
        shown: The labels that the reader was shown. A citation looks like one of them, with any number where they are
            numbered; without any, like ``S1``.
        pattern: How a citation is written, instead: its first group, else the whole match, holds the labels.

    >>> find_citations("It waits [S1, S2], see `x[S3]` and array[2].", shown=["S1"])
    ('S1', 'S2')
    """
    prose = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    if pattern is not None:
        groups = (match[1 if pattern.groups else 0] or "" for match in pattern.finditer(prose))
        return tuple(label for group in groups for label in _labels(group))
    bracketed = bool(shown) and all(label[:1] == "[" and label[-1:] == "]" for label in shown)
    labels = [label[1:-1] for label in shown] if bracketed else shown
    shape = _shape(*dict.fromkeys([label.rstrip(_DIGITS) for label in labels]))
    cited: list[str] = []
    for match in _GROUP.finditer(prose):
        names = _labels(match[1], shape)
        if not all(shape.fullmatch(name) for name in names) or _is_index(prose, match.start(), names):
            continue
        cited += [f"[{name}]" if bracketed else name for name in names]
    return tuple(cited)


def _labels(group: str, shape: re.Pattern[str] | None = None) -> list[str]:
    """Return the labels in a group; words between commas are one label where that is what labels look like."""
    names: list[str] = []
    for part in _SEPARATOR.split(group.strip()):
        names += [part] if shape is None or shape.fullmatch(part) else _SPACES.split(part)
    return [name for name in names if name]


def _is_index(prose: str, start: int, names: list[str]) -> bool:
    """Return whether bare numbers in brackets index a word before them, as in ``array[2]``."""
    before = prose[start - 1 : start]
    return (before.isalnum() or before in ("_", ")")) and all(name.isdigit() for name in names) and before != ""


@lru_cache(maxsize=64)
def _shape(*prefixes: str) -> re.Pattern[str]:
    """Return what a label looks like: one of these, with a number or, where it is not empty, without."""
    if not prefixes:
        return _DEFAULT
    return re.compile("|".join(re.escape(prefix) + (r"\d*" if prefix else r"\d+") for prefix in prefixes))
