"""Values and exceptions as data that can be compared between two runs of one program.

An object that the program made itself has a name, so that what was handed through is distinguished from a copy of it.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

import numpy as np

FILE: Final = "<program>"
"""The file that a program's code says that it is from."""
_PLAIN: Final = frozenset({str, int, float, bool, type(None), bytes})
_DEEPEST: Final = 5
ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
_TYPE: Final = re.compile(r"'(\w+)'")
KINDS: Final = {
    "Awaited": "coroutine",
    "IterableAwaited": "generator",
    "Steps": "generator",
    "AsyncSteps": "async_generator",
}
"""What a monitored function gives in the place of Python's own types."""


class Names:
    """The names of the objects of one run. In each thread they are counted apart, so that threads may overlap."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._kept: list[object] = []
        self._here = threading.local()
        self._counts: dict[tuple[str, str], int] = defaultdict(int)

    @property
    def lane(self) -> str:
        """Name of the thread: empty for the first one."""
        return getattr(self._here, "lane", "")

    @lane.setter
    def lane(self, name: str) -> None:
        self._here.lane = name

    def count(self, kind: str) -> int:
        """Count something in this thread."""
        counted = (self.lane, kind)
        self._counts[counted] += 1
        return self._counts[counted]

    def own(self, kind: str, thing: Any) -> Any:
        """Name an object, keep it, and return it."""
        self._names[id(thing)] = f"{self.lane}{kind}{self.count(kind)}"
        self._kept.append(thing)
        return thing

    def of(self, thing: object) -> str:
        """Return the name of an object."""
        return self._names[id(thing)]

    def forget(self) -> None:
        """Let go of every object."""
        self._names.clear()
        self._kept.clear()

    def let_go_of_frames(self) -> None:
        """Take the tracebacks from the exceptions that have a name, and from those that led to them."""
        waiting: list[Any] = [each for each in self._kept if issubclass(type(each), BaseException)]
        while waiting:
            error = waiting.pop()
            error.__traceback__ = None
            waiting += [each for each in (error.__cause__, error.__context__) if each and each.__traceback__]

    def describe(self, value: Any, depth: int = 0) -> object:
        """Return a value as data: its name, if it has one, its type, and what is in it."""
        kind, name = type(value), self._names.get(id(value))
        if kind in _PLAIN:
            return value if kind is not float else repr(value)
        if depth > _DEEPEST:
            return "..."
        if issubclass(kind, BaseException):
            return self.error(value, depth)
        return (KINDS.get(kind.__name__, kind.__name__), name, self._inside(kind, value, depth + 1))

    def _inside(self, kind: type, value: Any, depth: int) -> object:
        if kind in (list, tuple):
            return [self.describe(each, depth) for each in value]
        if issubclass(kind, dict):
            return [(self.describe(key), self.describe(each, depth)) for key, each in dict.items(value)]
        if kind in (set, frozenset):
            return sorted(map(repr, value))
        if kind is np.ndarray:
            return value.tolist()
        return str.__str__(value) if issubclass(kind, str) else None

    def error(self, error: BaseException | None, depth: int = 0) -> object:
        """Return an exception as data: which one it is, what it says, what led to it, and the program's own frames."""
        if error is None or depth > _DEEPEST:
            return None if error is None else "..."
        return (
            type(error).__name__,
            self._names.get(id(error)),
            [self._said(each, depth + 1) for each in error.args],
            self.error(error.__cause__, depth + 1),
            self.error(error.__context__, depth + 1),
            error.__suppress_context__,
            list(getattr(error, "__notes__", ())),
            _frames(error.__traceback__),
        )

    def _said(self, said: object, depth: int) -> object:
        """Return what an exception carries; in Python's own messages the monitor's types have the names of Python's."""
        if type(said) is not str:
            return self.describe(said, depth)
        return ADDRESS.sub("", _TYPE.sub(lambda found: repr(KINDS.get(found[1], found[1])), said))


class Frames(list[tuple[str, int]]):
    """The program's own frames in a traceback. None may be lost: what is equal to them may have others between.

    Python itself loses some of an exception that is thrown into coroutines that await each other.
    """

    def __eq__(self, other: object) -> bool:
        left = iter(other if isinstance(other, Frames) else ())
        return all(each in left for each in self)


def _frames(trace: TracebackType | None) -> Frames:
    frames = Frames()
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == FILE and trace.tb_lineno != code.co_firstlineno:  # or thrown into what has not begun
            frames.append((code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def differences(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Say in which parts, and where in them, two observations differ."""
    found: list[str] = []
    for part in one.keys() | other.keys():
        mine, theirs = one.get(part), other.get(part)
        if mine == theirs:
            continue
        if isinstance(mine, list) and isinstance(theirs, list):
            place = next((n for n, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
            place = min(len(mine), len(theirs)) if place is None else place
            mine, theirs = mine[place : place + 1], theirs[place : place + 1]
            part = f"{part}, entry {place}"
        found.append(f"{part}:\n    bare:  {mine!r}\n    other: {theirs!r}")
    return sorted(found)
