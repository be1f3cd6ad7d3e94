"""The blocks of a handoff: what runs within one stage, and which stages only wrap others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import StageRecord

WHOLE: Final = -1
"""The handoff's own block; another one is known by the place of the stage whose own it is."""


class Standing(NamedTuple):
    """A stage where it stands in a block.

    Args:
        place: Where: its own place, or that of the source that only wraps it.
        stage: Its own place.
        source: Whether it stands there as a source.
    """

    place: int
    stage: int
    source: bool


class Blocks(NamedTuple):
    """The blocks of one handoff.

    Args:
        homes: The block that each stage belongs to.
        wrappers: The place of each stage that only wraps others, with the stage that is handed on to it.
    """

    homes: Sequence[int]
    wrappers: Mapping[int, Standing]


def blocks_of(stages: Sequence[StageRecord], around: Sequence[int | None]) -> Blocks:
    """Return the blocks of stages, from the innermost out.

    Args:
        stages: In order, so that what a stage encloses comes before it.
        around: The place of the stage that encloses each, None where there is none.
    """
    ends: dict[int, _End] = {}
    merged: dict[int, int] = {}
    wrappers: dict[int, Standing] = {}
    for place, stage in enumerate(stages):
        if stage.kind == kinds.READER:
            continue
        home = WHOLE if (found := around[place]) is None else found
        own = ends.get(place)
        inner = own.only() if own is not None else None
        source = kinds.is_source(stage)
        if own is None or inner is None or not _wraps(stage, stages[inner.stage]):
            ends.setdefault(home, _End()).put(stage.round, Standing(place, place, source))
            continue
        wrappers[place] = inner
        if source:
            wrappers[place] = Standing(place, inner.stage, source=True)
            ends.setdefault(home, _End()).put(stage.round, wrappers[place])
        else:
            merged[place] = home
            ends[home] = own.with_all_of(ends[home]) if home in ends else own
    for place in reversed(merged):
        merged[place] = merged.get(merged[place], merged[place])
    homes = [WHOLE if place is None else place for place in around]
    return Blocks([merged.get(home, home) for home in homes], wrappers)


class _End:
    """What a block hands on at its end, as far as it matters whether that is one stage.

    Of each chain the last two stages are kept: of the others none is handed on where just one is.
    """

    __slots__ = ("_chains", "_last_taker")

    def __init__(self) -> None:
        self._chains: dict[int | None, list[Standing]] = {}
        self._last_taker = -1

    def put(self, round_: int | None, standing: Standing) -> None:
        """Put a stage into the chain of its round."""
        self._chains[round_] = sorted([*self._chains.get(round_, ()), standing])[-2:]
        if round_ is None and not standing.source:
            self._last_taker = max(self._last_taker, standing.place)

    def with_all_of(self, other: _End) -> _End:
        """Return the end of both together; both are used up."""
        less, more = sorted((self, other), key=lambda each: len(each._chains))
        for round_, chain in less._chains.items():
            for standing in chain:
                more.put(round_, standing)
        more._last_taker = max(less._last_taker, more._last_taker)
        return more

    def only(self) -> Standing | None:
        """Return the stage that is handed on, None where it is not just one."""
        over: list[int | None] = []
        handed_on: list[list[Standing]] = []
        for round_, chain in self._chains.items():
            if round_ is not None and chain[-1].place < self._last_taker:
                over.append(round_)  # a later stage without a round took it
            else:
                handed_on.append(chain)
                if len(handed_on) > 1:
                    break
        for round_ in over:
            del self._chains[round_]  # looked at once
        if len(handed_on) != 1:
            return None
        *before, last = handed_on[0]
        parallel = last.source and any(each.source and each.place > self._last_taker for each in before)
        return None if parallel else last


def _wraps(stage: StageRecord, other: StageRecord) -> bool:
    """Return whether a stage returns the list of the one that is handed on to it, and only wraps it."""
    if stage.returned is None or stage.returned != other.returned or stage.true_count != other.true_count:
        return False
    return stage.kind == other.kind or kinds.is_source(stage) or kinds.is_custom(stage)
