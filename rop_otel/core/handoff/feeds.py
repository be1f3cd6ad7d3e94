"""Which stages feed which, and what a block hands on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.blocks import WHOLE, Blocks, Standing
from rop_otel.core.handoff.record import StageRecord


class Fed(NamedTuple):
    """Stages that feed another one, or that a block hands on.

    Args:
        places: Ascending.
        sources: Those of them that stand as sources.
    """

    places: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()


NOTHING: Final = Fed()


class Feeds(NamedTuple):
    """What feeds the stages of one handoff.

    Args:
        of: What feeds each stage; nothing for one that only wraps others.
        within: What the own block of a stage hands on at its end, for each that encloses others and is no wrapper.
        parallel: The sources next to each other in a chain, or one alone.
        end: What the handoff's own block hands on at its end.
    """

    of: Sequence[Fed]
    within: Mapping[int, Fed]
    parallel: Sequence[Sequence[int]]
    end: Fed


def feeds_of(stages: Sequence[StageRecord], blocks: Blocks) -> Feeds:
    """Return what feeds each stage.

    Args:
        stages: In order, those that only wrap others among them.
        blocks: Of these.
    """
    asked = _blocks_asked(stages, blocks)
    flows: dict[int, _Flow] = {}
    latest: _Latest = {}
    runs: list[list[Standing]] = []
    of: list[Fed] = []
    within: dict[int, Fed] = {}
    for place, stage in enumerate(stages):
        home = blocks.homes[place]
        standing = blocks.wrappers.get(place)
        if standing is None:
            source = kinds.is_source(stage)
            own = flows[place].handed_on() if place in flows else NOTHING
            if own.places:
                within[place] = own
            if stage.fed_by:
                of.append(_fed(_named(stage, latest)))
            else:
                flow = None if source else flows.get(asked.get(place, home))
                of.append(_together(own, NOTHING if flow is None else flow.before(stage.round)))
            if stage.kind == kinds.READER:
                continue
            standing = Standing(place, place, source)
        else:
            of.append(NOTHING)
        latest[stage.round, stage.name or stage.kind, None] = latest[stage.round, None, stage.kind] = standing
        if standing.place == place:
            flow = flows.get(home)
            if flow is None:
                flow = flows[home] = _Flow(runs)
            flow.add(stage.round, standing)
    end = flows[WHOLE].handed_on() if WHOLE in flows else NOTHING
    stands_at = {standing.stage: standing.place for standing in blocks.wrappers.values()}
    parallel = [
        [each.stage for each in run]
        for run in runs
        if not stands_at or stands_at.get(run[-1].stage, run[-1].place) == run[-1].place
    ]
    return Feeds(of, within, parallel, end)


class _Flow:
    """What a block hands on, as its stages end one after the other.

    Args:
        runs: Takes each run of sources of one of its chains, which grows with them.
    """

    __slots__ = ("_fed", "_fed_round", "_plain", "_rounds", "_runs", "_since")

    def __init__(self, runs: list[list[Standing]]) -> None:
        self._runs = runs
        self._plain: list[Standing] = []
        self._rounds: dict[int, list[Standing]] = {}
        self._since: dict[int, list[Standing]] = {}  # the tails of rounds that no stage without a round took
        self._fed: Fed | None = None
        self._fed_round: dict[int, Fed] = {}

    def add(self, round_: int | None, standing: Standing) -> None:
        """Put the next stage at the end of the chain of its round."""
        self._fed = None
        if round_ is None:
            if not standing.source:
                self._since.clear()
            self._plain = self._longer(self._plain, standing)
        else:
            self._fed_round.pop(round_, None)
            whole, since = self._rounds.get(round_), self._since.get(round_)
            self._rounds[round_] = longer = self._longer(whole, standing)
            self._since[round_] = longer if since is whole else _tail(since, standing) or [standing]

    def _longer(self, chain: list[Standing] | None, standing: Standing) -> list[Standing]:
        tail = _tail(chain, standing)
        if tail is None:
            tail = [standing]
            if standing.source:
                self._runs.append(tail)
        return tail

    def before(self, round_: int | None) -> Fed:
        """Return what feeds the next stage of a round or, for one without a round, what is handed on."""
        if round_ is None:
            return self.handed_on()
        found = self._fed_round.get(round_)
        if found is None:
            found = self._fed_round[round_] = _fed(self._rounds.get(round_, ()))
        return found

    def handed_on(self) -> Fed:
        """Return what the block hands on here."""
        if self._fed is None:
            tails = self._since.values()
            self._fed = _fed(self._plain if not tails else [*self._plain, *(one for tail in tails for one in tail)])
        return self._fed


def _tail(chain: list[Standing] | None, standing: Standing) -> list[Standing] | None:
    """Return the tail of a chain with a further source in it; None where the next stage is a tail by itself."""
    if chain and standing.source and chain[-1].source:
        chain.append(standing)
        return chain
    return None


def _fed(standings: Iterable[Standing]) -> Fed:
    places: dict[int, bool] = {}
    for standing in standings:
        places[standing.stage] = standing.source or places.get(standing.stage, False)
    return Fed(tuple(sorted(places)), tuple(sorted(place for place, source in places.items() if source)))


def _together(one: Fed, other: Fed) -> Fed:
    if not one.places or not other.places:
        return one if one.places else other
    return Fed(
        tuple(sorted({*one.places, *other.places})),
        tuple(sorted({*one.sources, *other.sources})),
    )


_Latest = dict[tuple[int | None, str | None, str | None], Standing]
"""The latest stage of a round and a name (else a kind), and of a round and a kind."""


def _named(stage: StageRecord, latest: _Latest) -> list[Standing]:
    """Return the latest earlier stage of each name in ``fed_by``, else of each kind, of the same round."""
    found = (
        latest.get((stage.round, wanted, None), latest.get((stage.round, None, wanted))) for wanted in stage.fed_by
    )
    return [standing for standing in found if standing is not None]


def _blocks_asked(stages: Sequence[StageRecord], blocks: Blocks) -> dict[int, int]:
    """Return, for stages whose own block holds nothing before them that could feed them, the next one out that does.

    A block once found empty is empty for all stages before that one, too: it is passed by, whatever the depth.
    """
    if all(home == WHOLE for home in blocks.homes):
        return {}
    first: dict[tuple[int, int | None], int] = {}
    for place, stage in enumerate(stages):
        if stage.kind != kinds.READER and blocks.wrappers.get(place, (place,))[0] == place:
            first.setdefault((blocks.homes[place], None), place)
            first.setdefault((blocks.homes[place], stage.round), place)
    asked: dict[int, int] = {}
    further: dict[tuple[int, int | None], int | None] = {}
    for place in range(len(stages) - 1, -1, -1):
        round_ = stages[place].round
        passed: list[tuple[int, int | None]] = []
        here: int | None = blocks.homes[place]
        while here is not None and first.get((here, round_), place) >= place:
            passed.append((here, round_))
            here = further[here, round_] if (here, round_) in further else blocks.around(here, stages)
        further.update(dict.fromkeys(passed, here))
        if here is not None:
            asked[place] = here
    return asked
