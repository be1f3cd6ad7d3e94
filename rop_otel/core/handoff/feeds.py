"""Which stages feed which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import StageRecord

_ChainKey = tuple[int | None, int | None]
"""A round and None, or None and the place of what a stage ran within."""

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
    chains: dict[_ChainKey, list[int]] = {}
    latest: _Latest = {}
    rounds_between: dict[int, None] = {}
    fed: list[tuple[int, ...]] = []
    handed_on: dict[_ChainKey, tuple[int, ...]] = {}  # readers one after the other are fed by the same stages
    for place, stage in enumerate(stages):
        around = within[place] if within else None
        key = _chain_of(stage, around)
        if within and (inside := chains.get((None, place))) is not None:
            fed.append(tuple(_tail(stages, inside)))
        elif kinds.is_source(stage):
            fed.append(())
        elif stage.fed_by:
            fed.append(tuple(sorted(_named(stage, latest))))
        else:
            found = handed_on.get(key)
            if found is None:
                found = handed_on[key] = _handed_on(stages, chains, key, rounds_between)
            fed.append(found)
        if stage.kind == kinds.READER:
            continue
        handed_on.clear()
        chains.setdefault(key, []).append(place)
        latest[stage.round, stage.name or stage.kind, None] = latest[stage.round, None, stage.kind] = place
        if around is not None:
            continue
        if stage.round is None:
            rounds_between.clear()
        else:
            rounds_between[stage.round] = None
    return tuple(fed)


def _handed_on(
    stages: Sequence[StageRecord], chains: Mapping[_ChainKey, list[int]], key: _ChainKey, rounds: Iterable[int]
) -> tuple[int, ...]:
    """Return what feeds the next stage of a chain: its tail and, for one without a round, those of the rounds since."""
    found = _tail(stages, chains.get(key, []))
    if key != (None, None) or not rounds:
        return tuple(found)
    return tuple(sorted((*found, *chain.from_iterable(_tail(stages, chains[one, None]) for one in rounds))))


def _chain_of(stage: StageRecord, around: int | None) -> _ChainKey:
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
