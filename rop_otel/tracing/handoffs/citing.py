"""Finds the labels that an answer cites."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import Final

from rop_otel.core.prompt.prompt_labels import NAMES

_CODE: Final = re.compile(r"(?m)^[ ]{0,3}(```|~~~)|(`+)")
_TICKS: Final = re.compile("`+")
_FENCE_ENDS: Final = {
    "```": re.compile(r"(?m)^[ ]{0,3}````*~*[ \t]*$"),
    "~~~": re.compile(r"(?m)^[ ]{0,3}~~~`*~*[ \t]*$"),
}
_GROUPS: Final = {
    "": re.compile(r"(?:\[([^\[\]]{1,200})\]|【([^【】]{1,200})】)"),
    "[]": re.compile(r"\[([^\[\]]{1,200})\]"),
    "()": re.compile(r"\(([^()]{1,200})\)"),
    "【】": re.compile(r"【([^【】]{1,200})】"),
}
"""What citations stand in, by what the labels stand in; labels that stand in nothing are cited in square brackets."""

_NAMED: Final = re.compile(rf"(?i)(?:{NAMES})s?[ _]?[#:]?\s*(?=\d)")
"""What may stand before a number that is a label."""

_SEPARATOR: Final = re.compile("[,;]")
_SEPARATORS: Final = ":#/"
"""What ends a name that all labels begin with."""

_SPACES: Final = re.compile(r"\s+(?:and\s+)?")
_DIGITS: Final = "0123456789"
_DEFAULT: Final = re.compile(r"S\d+")

_PART: Final = 4_000
"""Characters that a pattern of the user's is run on at a time: one that goes back and forth takes its square."""

_LONGEST: Final = 200
"""Characters of the longest citation that is found wherever it stands in a longer answer."""

_SECONDS: Final = 0.1
"""Time of this thread that such a pattern may take for an answer."""


def find_citations(text: str, *, shown: Sequence[str] = (), pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """Return the labels that a text cites, in order, repeats kept, written as they were shown.

    Labels are cited in square brackets: ``[S1]``, ``[S1, S2]``, ``[S1][S3]``; a number also as ``[Source 1]`` and
    ``【1】``. Labels in round brackets, or in ``【】``, are cited in those. Code is no prose and cites nothing.

    Args:
        text: The answer.
        shown: The labels that the reader was shown. A citation looks like one of them, with any number where they are
            numbered; without any, like ``S1``.
        pattern: How a citation is written, instead: its first group, else the whole match, holds the labels.

    Raises:
        TimeoutError: The pattern takes too long, as one that goes back and forth in a longer answer does.

    >>> find_citations("It waits [S1, S2], see `x[S3]` and array[2].", shown=["S1"])
    ('S1', 'S2')
    """
    prose = _without_code(text) if "`" in text or "~~~" in text else text
    if pattern is not None:
        return tuple(label for group in _matches(pattern, prose) for label in _labels(group))
    around = next((pair for pair in _GROUPS if pair and shown and all(_stands_in(pair, label) for label in shown)), "")
    labels = [label[1:-1] for label in shown] if around else shown
    is_label = _Shape(labels).fits
    numbered = bool(labels) and all(label.isdecimal() for label in labels)
    opening, closing = around[:1], around[1:]
    cited: list[str] = []
    for match in _GROUPS[around].finditer(prose):
        group = match[match.lastindex or 0]
        names = _labels(_NAMED.sub("", group) if numbered else group, is_label)
        if not all(map(is_label, names)) or (match[0][0] != "【" and _is_index(prose, match.start(), names)):
            continue
        cited += [f"{opening}{name}{closing}" for name in names]
    return tuple(cited)


def _stands_in(pair: str, label: str) -> bool:
    return len(label) > len(pair) and label[0] == pair[0] and label[-1] == pair[1]


def _matches(pattern: re.Pattern[str], prose: str) -> Iterator[str]:
    """Yield what a user's pattern finds, part by part of the text, since nothing stops a pattern once it runs."""
    over = thread_time() + _SECONDS
    group = 1 if pattern.groups else 0
    start, length = 0, len(prose)
    while True:
        end = start + _PART
        last = end >= length
        ahead = end - _LONGEST
        for match in pattern.finditer(prose, start, end):
            if not last and match.start() >= ahead:
                break
            yield match[group] or ""
            ahead = max(ahead, match.end())
        if last:
            return
        if thread_time() > over:
            raise TimeoutError("citation_pattern takes too long")
        start = ahead


def _without_code(text: str) -> str:
    """Return a text with a space in the place of what is fenced, or stands between runs of as many backticks."""
    runs: dict[int, deque[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(len(run[0]), deque()).append(run.start())
    prose: list[str] = []
    kept = at = 0
    while found := _CODE.search(text, at):
        at = found.end()
        if found[1]:
            closing = _FENCE_ENDS[found[1]].search(text, at)
            at = closing.end() if closing else len(text)
        else:
            same = runs[len(found[2])]
            while same and same[0] < at:
                same.popleft()
            if not same:
                continue
            at = same[0] + len(found[2])
        prose.append(text[kept : found.start()])
        kept = at
    return " ".join([*prose, text[kept:]])


def _labels(group: str, is_label: Callable[[str], bool] | None = None) -> list[str]:
    """Return the labels in a group; words between commas are one label where that is what labels look like."""
    names: list[str] = []
    for part in map(str.strip, _SEPARATOR.split(group)):
        names += [part] if is_label is None or is_label(part) else _SPACES.split(part)
    return [name for name in names if name]


def _is_index(prose: str, start: int, names: list[str]) -> bool:
    """Return whether bare numbers in brackets index a word before them, as in ``array[2]``."""
    before = prose[start - 1 : start]
    return (before.isalnum() or before in ("_", ")")) and all(name.isdigit() for name in names) and before != ""


class _Shape:
    """What a label looks like: one of those shown, or ``S1`` without any.

    Where they are numbered it has any number, and where all begin with the same name, as in ``source:a``, any other.

    Args:
        labels: Those shown.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self._prefixes = frozenset(label.rstrip(_DIGITS) for label in labels)
        names = {label[: 1 + max(map(label.rfind, _SEPARATORS))] for label in labels}
        self._named = names.pop() if len(names) == 1 else ""

    def fits(self, name: str) -> bool:
        """Return whether a name looks like a label."""
        if not self._prefixes:
            return _DEFAULT.fullmatch(name) is not None
        if name in self._prefixes or (self._named and name.startswith(self._named)):
            return name != ""
        end = len(name)
        while end and name[end - 1].isdecimal():
            end -= 1
            if name[:end] in self._prefixes:
                return True
        return False
