"""The order of the stages of many handoffs, which need not all have the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rop_otel.core.handoff.totals import Spot


class RunOrder:
    """Stages in about the order in which they run: one that is new comes after the one before it in its handoff."""

    __slots__ = ("_last", "_next")

    def __init__(self) -> None:
        self._next: dict[Spot | None, Spot | None] = {None: None}
        self._last: Spot | None = None

    def take(self, spots: Iterable[Spot]) -> None:
        """Take in the stages of one handoff, in their order."""
        known = list(spots)
        before = None if any(spot in self._next for spot in known) else self._last
        for spot in known:
            if spot not in self._next:
                self._next[spot], self._next[before] = self._next[before], spot
                if self._next[spot] is None:
                    self._last = spot
            before = spot

    def __iter__(self) -> Iterator[Spot]:
        spot = self._next[None]
        while spot is not None:
            yield spot
            spot = self._next[spot]
