"""Which stages feed which."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import StageRecord


def feeds(stages: Sequence[StageRecord]) -> tuple[tuple[int, ...], ...]:
    """Return for each stage, in order, the places of the stages that feed it, ascending.

    A source is fed by nothing and a reader feeds nothing. ``fed_by`` names the feeding stages; otherwise a stage
    with a round is fed by the tail of its round, one without by the tail of those without and of the rounds that
    lie between it and the previous one without.
    """
    chains: dict[int | None, list[int]] = {}
    rounds_between: dict[int, None] = {}
    fed: list[tuple[int, ...]] = []
    for place, stage in enumerate(stages):
        if kinds.is_source(stage):
            found: set[int] = set()
        elif stage.fed_by:
            found = _named(stages, place, chains)
        else:
            found = set(_tail(stages, chains.get(stage.round, ())))
            if stage.round is None:
                for number in rounds_between:
                    found.update(_tail(stages, chains[number]))
        fed.append(tuple(sorted(found)))
        if stage.kind == kinds.READER:
            continue
        chains.setdefault(stage.round, []).append(place)
        if stage.round is None:
            rounds_between.clear()
        else:
            rounds_between[stage.round] = None
    return tuple(fed)


def _named(stages: Sequence[StageRecord], place: int, chains: dict[int | None, list[int]]) -> set[int]:
    """Return the latest earlier stage of each name in ``fed_by``, of the same round."""
    earlier = chains.get(stages[place].round, [])
    found: set[int] = set()
    for wanted in stages[place].fed_by:
        named = [other for other in earlier if (stages[other].name or stages[other].kind) == wanted]
        of_kind = named or [other for other in earlier if stages[other].kind == wanted]
        found.update(of_kind[-1:])
    return found


def _tail(stages: Sequence[StageRecord], chain: Sequence[int]) -> Sequence[int]:
    """Return the last stage of a chain or, where it ends in sources, those trailing sources."""
    start = len(chain)
    while start and kinds.is_source(stages[chain[start - 1]]):
        start -= 1
    return chain[start:] or chain[-1:]
