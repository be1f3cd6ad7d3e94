"""Which stages feed which, and what a block hands on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.blocks import WHOLE, Blocks, Standing
from rop_otel.core.handoff.nesting import Above, Undo
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
    by_name = any(map(attrgetter("fed_by"), stages))
    latest: _Latest = {}
    flows: dict[int, _Flow] = {}
    runs = _Runs()
    of: list[Fed] = []
    within: dict[int, Fed] = {}
    for place, stage in enumerate(stages):
        home = blocks.homes[place]
        wrapped = blocks.wrappers.get(place)
        if wrapped is None:
            source = kinds.is_source(stage)
            own = flows[place].handed_on() if place in flows else NOTHING
            if own.places:
                within[place] = own
            if stage.fed_by:
                of.append(_named(stage, latest))
            else:
                flow = None if source else flows.get(asked.get(place, home))
                before = NOTHING if flow is None else flow.before(stage.round)
                of.append(_together(own, before) if own.places else before)
            if stage.kind == kinds.READER:
                continue
            standing = Standing(place, place, source) if by_name else None
        else:
            of.append(NOTHING)
            standing, source = wrapped, wrapped.source
        if standing is not None:
            latest[stage.round, stage.name or stage.kind, None] = latest[stage.round, None, stage.kind] = standing
        if wrapped is None or wrapped.place == place:
            flow = flows.get(home)
            if flow is None:
                flow = flows[home] = _Flow(runs)
            flow.add(stage.round, place if wrapped is None else wrapped.stage, source)
    end = flows[WHOLE].handed_on() if WHOLE in flows else NOTHING
    return Feeds(of, within, runs.outermost(), end)


class _Tail(NamedTuple):
    """The end of a chain: its last stage or, where it ends in sources, those.

    Args:
        places: Of these stages, as they stand.
        sources: Whether they are sources.
    """

    places: list[int]
    sources: bool


class _Runs:
    """The runs of sources next to each other. A stage that stands as a source in several counts in the outermost."""

    __slots__ = ("_of", "_runs")

    def __init__(self) -> None:
        self._runs: list[list[int]] = []
        self._of: dict[int, list[int]] = {}

    def longer(self, chain: _Tail | None, stage: int) -> _Tail:
        """Return the tail of a chain that goes on with a source."""
        tail = _longer(chain, stage)
        if tail is not chain:
            self._runs.append(tail.places)
        self._of[stage] = tail.places
        return tail

    def outermost(self) -> list[list[int]]:
        """Return the runs, each stage in one of them."""
        return [run for run in self._runs if self._of[run[-1]] is run]


class _Flow:
    """What a block hands on, as its stages end one after the other.

    Args:
        runs: Takes each run of sources of one of its chains.
    """

    __slots__ = ("_fed", "_fed_round", "_plain", "_rounds", "_runs", "_since")

    def __init__(self, runs: _Runs) -> None:
        self._runs = runs
        self._plain: _Tail | None = None
        self._rounds: dict[int, _Tail] = {}
        self._since: dict[int, _Tail] = {}  # the tails of rounds that no stage without a round took
        self._fed: Fed | None = None
        self._fed_round: dict[int, Fed] = {}

    def add(self, round_: int | None, stage: int, source: bool) -> None:
        """Put the next stage at the end of the chain of its round."""
        self._fed = None
        if round_ is not None:
            self._fed_round.pop(round_, None)
            whole, since = self._rounds.get(round_), self._since.get(round_)
            self._rounds[round_] = self._runs.longer(whole, stage) if source else _Tail([stage], sources=False)
            if since is None or since is not whole:
                self._since[round_] = _longer(since, stage) if source else self._rounds[round_]
            else:
                self._since[round_] = self._rounds[round_]
        elif source:
            self._plain = self._runs.longer(self._plain, stage)
        else:
            self._plain = _Tail([stage], sources=False)
            self._since.clear()

    def before(self, round_: int | None) -> Fed:
        """Return what feeds the next stage of a round or, for one without a round, what is handed on."""
        if round_ is None:
            return self.handed_on()
        found = self._fed_round.get(round_)
        if found is None:
            tail = self._rounds.get(round_)
            found = self._fed_round[round_] = NOTHING if tail is None else _fed(tail)
        return found

    def handed_on(self) -> Fed:
        """Return what the block hands on here."""
        found = self._fed
        if found is None:
            found = NOTHING if self._plain is None else _fed(self._plain)
            if self._since:
                found = _together(found, *map(_fed, self._since.values()))
            self._fed = found
        return found


def _longer(chain: _Tail | None, stage: int) -> _Tail:
    """Return the tail of a chain that goes on with a source: that and the sources before it."""
    if chain is None or not chain.sources:
        return _Tail([stage], sources=True)
    chain.places.append(stage)
    return chain


def _fed(tail: _Tail) -> Fed:
    places = tuple(sorted(tail.places))
    return Fed(places, places if tail.sources else ())


def _together(*parts: Fed) -> Fed:
    filled = [part for part in parts if part.places]
    if len(filled) == 1:
        return filled[0]
    places = {place for part in filled for place in part.places}
    sources = {place for part in filled for place in part.sources}
    return Fed(tuple(sorted(places)), tuple(sorted(sources)))


_Latest = dict[tuple[int | None, str | None, str | None], Standing]
"""The latest stage of a round and a name (else a kind), and of a round and a kind."""


def _named(stage: StageRecord, latest: _Latest) -> Fed:
    """Return the latest earlier stage of each name in ``fed_by``, else of each kind, of the same round."""
    found = [
        latest.get((stage.round, wanted, None), latest.get((stage.round, None, wanted))) for wanted in stage.fed_by
    ]
    return Fed(
        tuple(sorted({each.stage for each in found if each is not None})),
        tuple(sorted({each.stage for each in found if each is not None and each.source})),
    )


def _blocks_asked(stages: Sequence[StageRecord], blocks: Blocks) -> dict[int, int]:
    """Return, for each stage that what comes before it may feed, the innermost block in which something does.

    That is its own block, or the first one around it in which a stage of its round comes before it, without a round any
    stage; what is around a source is not asked.
    """
    if max(blocks.homes, default=WHOLE) == WHOLE:
        return {}
    first: defaultdict[int, dict[int | None, int]] = defaultdict(dict)
    asking: defaultdict[int, list[int]] = defaultdict(list)
    for place, stage in enumerate(stages):
        home, wrapped = blocks.homes[place], blocks.wrappers.get(place)
        if wrapped is None:
            asking[home].append(place)
        if stage.kind != kinds.READER and (wrapped is None or wrapped.place == place):
            first[home].setdefault(None, place)
            first[home].setdefault(stage.round, place)
    inner: defaultdict[int, list[int]] = defaultdict(list)
    for block in set(blocks.homes) - {WHOLE}:
        inner[blocks.homes[block]].append(block)
    asked: dict[int, int] = {}
    above: dict[int | None, Above] = {}
    ahead: list[_Step] = [_Step(WHOLE, above)]
    while ahead:
        block, above, undo = ahead.pop()
        if undo is not None:
            for round_, step in undo.items():
                above[round_].pop(step)
            continue
        undo = {round_: above.setdefault(round_, Above()).push(at, block) for round_, at in first[block].items()}
        for place in asking[block]:
            round_ = stages[place].round
            found = above[round_].nearest(place) if round_ in above else None
            if found is not None:
                asked[place] = found
        ahead.append(_Step(block, above, undo))
        ahead.extend(_Step(each, {} if kinds.is_source(stages[each]) else above) for each in inner[block])
    return asked


class _Step(NamedTuple):
    """A step into a block, or out of it.

    Args:
        block: The block.
        above: The blocks around it that may be asked and the block itself, by the round for which they may, each with
            the place of its first stage of that round.
        undo: What takes the step back; None: it is one into the block.
    """

    block: int
    above: dict[int | None, Above]
    undo: dict[int | None, Undo] | None = None
