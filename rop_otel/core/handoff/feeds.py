"""Which stages feed which, and what a block hands on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

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


class Step(NamedTuple):
    """What the feeds of a pipeline hang on; each handoff of the same pipeline has the same ones."""

    kind: str
    name: str | None
    source: bool
    fed_by: tuple[str, ...]
    round: int | None


_step: Final = attrgetter(*Step._fields)


def feeds_without_blocks(stages: Sequence[StageRecord]) -> Feeds:
    """Return what feeds each stage where none encloses another; kept and shared, since a pipeline runs often."""
    return _feeds_of_steps(tuple(map(_step, stages)))


@lru_cache(maxsize=256)
def _feeds_of_steps(facts: tuple[tuple[Any, ...], ...]) -> Feeds:
    return feeds_of([Step(*each) for each in facts], Blocks([WHOLE] * len(facts), {}))


def feeds_of(stages: Sequence[StageRecord | Step], blocks: Blocks) -> Feeds:
    """Return what feeds each stage.

    Args:
        stages: In order, those that only wrap others among them.
        blocks: Of these.
    """
    asked = _blocks_asked(stages, blocks)
    by_name = any(map(attrgetter("fed_by"), stages))
    latest: _Latest = {}
    flows: dict[int, _Flow] = {}
    runs: dict[int, list[int]] = {}
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
            flow.add(stage.round, place if wrapped is None else wrapped.stage, source=source)
    end = flows[WHOLE].handed_on() if WHOLE in flows else NOTHING
    return Feeds(of, within, list({id(run): run for run in runs.values()}.values()), end)


class _Tail:
    """The end of a chain: its last stage or, where it ends in sources, those."""

    __slots__ = ("_fed", "places", "sources")

    def __init__(self) -> None:
        self.places: list[int] = []
        self.sources = False
        self._fed: Fed | None = None

    def add(self, stage: int, *, source: bool) -> None:
        """Let the chain go on with a stage."""
        self._fed = None
        if source and self.sources:
            self.places.append(stage)
        else:
            self.places, self.sources = [stage], source

    def fed(self) -> Fed:
        """Return the stages in it."""
        if self._fed is None:
            places = tuple(sorted(self.places)) if len(self.places) > 1 else tuple(self.places)
            self._fed = Fed(places, places if self.sources else ())
        return self._fed


class _Flow:
    """What a block hands on, as its stages end one after the other.

    Args:
        runs: Takes each run of sources of one of its chains, by the stages in it.
    """

    __slots__ = ("_fed", "_plain", "_rounds", "_runs", "_since")

    def __init__(self, runs: dict[int, list[int]]) -> None:
        self._runs = runs
        self._plain = _Tail()
        self._rounds: dict[int, _Tail] = {}
        self._since: dict[int, _Tail] = {}  # the tails of rounds that no stage without a round took
        self._fed: Fed | None = None

    def add(self, round_: int | None, stage: int, *, source: bool) -> None:
        """Put the next stage at the end of the chain of its round."""
        self._fed = None
        if round_ is None:
            tail = self._plain
            if not source:
                self._since.clear()
        else:
            tail = self._rounds.get(round_) or self._rounds.setdefault(round_, _Tail())
            (self._since.get(round_) or self._since.setdefault(round_, _Tail())).add(stage, source=source)
        tail.add(stage, source=source)
        if source:
            self._runs[stage] = tail.places  # the outermost, where it stands in several

    def before(self, round_: int | None) -> Fed:
        """Return what feeds the next stage of a round or, for one without a round, what is handed on."""
        if round_ is None:
            return self.handed_on()
        tail = self._rounds.get(round_)
        return NOTHING if tail is None else tail.fed()

    def handed_on(self) -> Fed:
        """Return what the block hands on here."""
        if not self._since:
            return self._plain.fed()
        if self._fed is None:
            self._fed = _together(self._plain.fed(), *(tail.fed() for tail in self._since.values()))
        return self._fed


def _together(*parts: Fed) -> Fed:
    filled = [part for part in parts if part.places]
    if len(filled) == 1:
        return filled[0]
    places = {place for part in filled for place in part.places}
    sources = {place for part in filled for place in part.sources}
    return Fed(tuple(sorted(places)), tuple(sorted(sources)))


_Latest = dict[tuple[int | None, str | None, str | None], Standing]
"""The latest stage of a round and a name (else a kind), and of a round and a kind."""


def _named(stage: StageRecord | Step, latest: _Latest) -> Fed:
    """Return the latest earlier stage of each name in ``fed_by``, else of each kind, of the same round."""
    found = [
        latest.get((stage.round, wanted, None), latest.get((stage.round, None, wanted))) for wanted in stage.fed_by
    ]
    return Fed(
        tuple(sorted({each.stage for each in found if each is not None})),
        tuple(sorted({each.stage for each in found if each is not None and each.source})),
    )


def _blocks_asked(stages: Sequence[StageRecord | Step], blocks: Blocks) -> dict[int, int]:
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
    ahead: list[_Inward] = [_Inward(WHOLE, above)]
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
        ahead.append(_Inward(block, above, undo))
        ahead.extend(_Inward(each, {} if kinds.is_source(stages[each]) else above) for each in inner[block])
    return asked


class _Inward(NamedTuple):
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
