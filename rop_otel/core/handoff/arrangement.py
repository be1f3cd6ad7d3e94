"""The stages of a handoff as the checks use them: in order, without wrappers, with what feeds and encloses each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rop_otel.core.handoff.blocks import WHOLE, Blocks, blocks_of
from rop_otel.core.handoff.feeds import Fed, Feeds, feeds_of, feeds_without_blocks
from rop_otel.core.handoff.order import LeftOut, in_order
from rop_otel.core.handoff.record import HandoffRecord, StageRecord


class Arrangement(NamedTuple):
    """The stages of one handoff.

    Args:
        stages: In order.
        places: The place of each one's span among all spans of stages.
        left_out: The stages that ended late, and the packings and rescues that failed.
        feeds: What feeds each stage.
        around: The place of the stage that encloses each, None where there is none; empty: none encloses another.
    """

    stages: tuple[StageRecord, ...]
    places: Sequence[int]
    left_out: tuple[LeftOut, ...]
    feeds: Feeds
    around: Sequence[int | None]


def arrange(record: HandoffRecord) -> Arrangement:
    """Return the stages of a handoff, arranged.

    Args:
        record: The handoff; its stages in any order.
    """
    stages, places, around, left_out = in_order(record)
    if not around:
        return Arrangement(stages, places, left_out, feeds_without_blocks(stages), ())
    blocks = blocks_of(stages, around)
    feeds = feeds_of(stages, blocks)
    kept = [place for place in range(len(stages)) if place not in blocks.wrappers]
    now_at = {place: now for now, place in enumerate(kept)}
    enclosing = _enclosing(blocks)
    return Arrangement(
        tuple(stages[place] for place in kept),
        [places[place] for place in kept],
        left_out,
        _renumbered(feeds, kept, now_at),
        [now_at.get(enclosing[place]) for place in kept],
    )


def _enclosing(blocks: Blocks) -> list[int]:
    """Return the stage that encloses each, wrappers aside."""
    outwards = dict.fromkeys((WHOLE,), WHOLE)
    for place in range(len(blocks.homes) - 1, -1, -1):
        home = blocks.homes[place]
        outwards[place] = outwards[home] if place in blocks.wrappers else place
    return [outwards[home] for home in blocks.homes]


def _renumbered(feeds: Feeds, kept: Sequence[int], now_at: dict[int, int]) -> Feeds:
    if len(kept) == len(feeds.of):
        return feeds
    known: dict[int, Fed] = {}

    def now(fed: Fed) -> Fed:
        found = known.get(id(fed))  # stages that are fed alike share it
        if found is None:
            found = known[id(fed)] = Fed(*(tuple(now_at[place] for place in places) for places in fed))
        return found

    return Feeds(
        of=[now(feeds.of[place]) for place in kept],
        within={now_at[place]: now(fed) for place, fed in feeds.within.items()},
        parallel=[[now_at[place] for place in run] for run in feeds.parallel],
        end=now(feeds.end),
    )
