"""Which stages feed which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import StageRecord

_Latest = dict[tuple[int | None, str | None, str | None], int]
"""The place of the latest stage of a round and a name (else a kind), and of a round and a kind."""


def feeds(stages: Sequence[StageRecord], within: Sequence[int | None] = ()) -> tuple[tuple[int, ...], ...]:
    """Return for each stage, in order, the places of the stages that feed it, ascending.

    A source is fed by nothing and a reader feeds nothing. ``fed_by`` names the feeding stages; otherwise a stage
    with a round is fed by the tail of its round, one without by the tail of those without and of the rounds that
    lie between it and the previous one without. A foreign source that stages ran within is fed by the last of them,
    and those feed nothing else.

    Args:
        stages: In order.
        within: The place of the foreign source that each ran within, None where there is none; empty: none did.
    """
    chains: dict[tuple[int | None, int | None], list[int]] = {}
    latest: _Latest = {}
    rounds_between: dict[int, None] = {}
    fed: list[tuple[int, ...]] = []
    for place, stage in enumerate(stages):
        found: list[int] = []
        around = within[place] if within else None
        if within and (inside := chains.get((None, place))) is not None:
            found = _tail(stages, inside)
        elif stage.fed_by and not kinds.is_source(stage):
            found = sorted(_named(stage, latest))
        elif not kinds.is_source(stage):
            found = _tail(stages, chains.get(_chain_of(stage, around), []))
            if stage.round is None and around is None and rounds_between:
                tails = (_tail(stages, chains[one, None]) for one in rounds_between)
                found = sorted((*found, *chain.from_iterable(tails)))
        fed.append(tuple(found))
        if stage.kind == kinds.READER:
            continue
        chains.setdefault(_chain_of(stage, around), []).append(place)
        latest[stage.round, stage.name or stage.kind, None] = latest[stage.round, None, stage.kind] = place
        if around is not None:
            continue
        if stage.round is None:
            rounds_between.clear()
        else:
            rounds_between[stage.round] = None
    return tuple(fed)


def _chain_of(stage: StageRecord, around: int | None) -> tuple[int | None, int | None]:
    """Return which chain a stage belongs to: that of its round, or of what it ran within, whatever its round."""
    return (stage.round, None) if around is None else (None, around)


def _named(stage: StageRecord, latest: _Latest) -> set[int]:
    """Return the latest earlier stage of each name in ``fed_by``, else of each kind, of the same round."""
    found = (
        latest.get((stage.round, wanted, None), latest.get((stage.round, None, wanted))) for wanted in stage.fed_by
    )
    return {place for place in found if place is not None}


def _tail(stages: Sequence[StageRecord], places: list[int]) -> list[int]:
    """Return the last stage of a chain or, where it ends in sources, those trailing sources."""
    start = len(places)
    while start and kinds.is_source(stages[places[start - 1]]):
        start -= 1
    return places[start:] or places[-1:]
