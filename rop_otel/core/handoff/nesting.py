"""Which stages enclose which, as far as their spans say."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from rop_otel.core.handoff.record import StageRecord

Parents = Sequence[int | None]
"""The place of the stage above each, None where there is none."""


def parents_of(stages: Sequence[StageRecord]) -> list[int | None]:
    """Return the place of the stage above each; a circle, which no tracer makes, is cut where it closes."""
    places = {(stage.trace_id, stage.span_id): place for place, stage in enumerate(stages)}
    parents = [None if stage.parent_id is None else places.get((stage.trace_id, stage.parent_id)) for stage in stages]
    done = [False] * len(parents)
    for place in range(len(parents)):
        path: dict[int, None] = {}
        here: int | None = place
        while here is not None and not done[here] and here not in path:
            path[here] = None
            here = parents[here]
        if here in path:
            parents[next(reversed(path))] = None
        for step in path:
            done[step] = True
    return parents


def depths_of(parents: Parents) -> list[int]:
    """Return how many stages are above each."""
    depths = [0] * len(parents)
    for place in outermost_first(parents):
        parent = parents[place]
        if parent is not None:
            depths[place] = depths[parent] + 1
    return depths


def outermost_first(parents: Parents) -> list[int]:
    """Return the places, those of stages before those of the stages below them."""
    below = _below(parents)
    ordered = [place for place, parent in enumerate(parents) if parent is None]
    for place in ordered:
        ordered.extend(below[place])
    return ordered


def enclosing(parents: Parents, encloses: Sequence[bool]) -> list[int | None]:
    """Return the nearest stage above each that encloses it: one that may, and that does not end before it.

    Args:
        parents: Of the stages in order, so that what ends before another has a lower place.
        encloses: Which stages may enclose others.
    """
    below = _below(parents)
    found: list[int | None] = [None] * len(parents)
    above = Above()
    ahead: list[tuple[int, Undo | None]] = [(place, None) for place, parent in enumerate(parents) if parent is None]
    while ahead:
        place, undo = ahead.pop()
        if undo is not None:
            above.pop(undo)
            continue
        found[place] = above.nearest(-place)
        if encloses[place]:
            ahead.append((place, above.push(-place, place)))
        ahead.extend((child, None) for child in below[place])
    return found


Undo = tuple[int, tuple[int, int] | None, int]
"""What takes back one step inwards."""


class Above:
    """What lies around a place, each with a key; the nearest of those with a lower key can be found at once.

    Of two, the outer one matters only where its key is the lower one: the keys that matter ascend on the way in.
    """

    __slots__ = ("_kept", "_size")

    def __init__(self) -> None:
        self._kept: list[tuple[int, int]] = []
        self._size = 0

    def nearest(self, key: int) -> int | None:
        """Return the nearest one with a key below this; None where there is none."""
        at = bisect_left(self._kept, (key,), 0, self._size)
        return self._kept[at - 1][1] if at else None

    def push(self, key: int, one: int) -> Undo:
        """Go inwards, past one; return what :meth:`pop` needs on the way out."""
        at, size = bisect_left(self._kept, (key,), 0, self._size), self._size
        before = self._kept[at] if at < len(self._kept) else None
        self._kept[at : at + 1] = [(key, one)]
        self._size = at + 1
        return at, before, size

    def pop(self, undo: Undo) -> None:
        """Go outwards again, as the last step that was not taken back went inwards."""
        at, before, self._size = undo
        if before is not None:
            self._kept[at] = before


class Regions:
    """Which stages lie within which, at any depth.

    Args:
        around: The place of the stage that encloses each, which is a later one; None where there is none.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, around: Parents) -> None:
        sizes = [1] * len(around)
        for place, parent in enumerate(around):
            if parent is not None:
                sizes[parent] += sizes[place]
        self._starts = [0] * len(around)
        self._ends = [0] * len(around)
        free = [0] * len(around)
        outside = 0
        for place in range(len(around) - 1, -1, -1):
            parent = around[place]
            if parent is None:
                start, outside = outside, outside + sizes[place]
            else:
                start, free[parent] = free[parent], free[parent] + sizes[place]
            self._starts[place], self._ends[place], free[place] = start, start + sizes[place], start + 1

    def encloses(self, place: int, other: int) -> bool:
        """Return whether a stage encloses another one."""
        return self._starts[place] < self._starts[other] < self._ends[place]

    def in_order(self, places: Iterable[int]) -> list[int]:
        """Return some stages with what each encloses right after it."""
        return sorted(places, key=self._starts.__getitem__)

    def starts_of(self, places: Iterable[int]) -> list[int]:
        """Return where some stages lie, ascending, for :meth:`count_within`."""
        return sorted(self._starts[place] for place in places)

    def count_within(self, place: int, starts: Sequence[int]) -> int:
        """Return how many of some stages, given by where they lie, a stage encloses."""
        return bisect_left(starts, self._ends[place]) - bisect_right(starts, self._starts[place])


def _below(parents: Iterable[int | None]) -> list[list[int]]:
    ordered = list(parents)
    below: list[list[int]] = [[] for _ in ordered]
    for place, parent in enumerate(ordered):
        if parent is not None:
            below[parent].append(place)
    return below
