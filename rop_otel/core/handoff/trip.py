"""One handoff, arranged for the checks: stages in order, what feeds them, what the reader was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, compress
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.feeds import feeds
from rop_otel.core.handoff.order import arrange
from rop_otel.core.handoff.record import HandoffRecord, Ids, StageRecord
from rop_otel.core.profile import Resolver

NOTHING: frozenset[str] = frozenset()


class ShownList(NamedTuple):
    """What the reader was shown.

    Args:
        places: The stages that make it up, in order; empty where there is no stage at all.
        ids: Recorded IDs with text, concatenated.
        known: How many of them are known to be at their place: up to and including the first cut list.
        cut: Whether a list in it is cut.
        usable: Whether there is such a list, each of its stages is readable, and a packing, if there was one, was seen.
    """

    places: tuple[int, ...]
    ids: Ids
    known: int
    cut: bool
    usable: bool

    @property
    def known_ids(self) -> Ids:
        """The known part."""
        return self.ids if self.known == len(self.ids) else self.ids[: self.known]


_NOT_KNOWN: Final = ShownList((), (), 0, False, False)


class Trip:
    """One handoff, arranged for the checks.

    Args:
        record: The facts.
        resolver: The resolver in force, None without one.
    """

    __slots__ = (
        "_fed",
        "_first_returned",
        "_inputs",
        "_latest",
        "_sets",
        "feeds",
        "late",
        "packing_unseen",
        "record",
        "resolver",
        "shown",
        "stages",
    )

    def __init__(self, record: HandoffRecord, resolver: Resolver | None) -> None:
        self.record = record
        self.resolver = resolver
        self.stages, self.late, within, self.packing_unseen = arrange(record.stages, end_ns=record.end_ns)
        self.feeds = feeds(self.stages, within)
        self._sets = tuple(None if stage.returned is None else frozenset(stage.returned) for stage in self.stages)
        self._fed: dict[int, frozenset[str]] = {}
        self._first_returned: dict[str, int] | None = None
        self._inputs: dict[int, frozenset[str] | None] = {}
        self._latest: dict[Callable[[StageRecord], bool], list[int]] = {}
        # Where the only packing failed, or went on, nobody knows what the reader was shown: not the list before it.
        self.shown = _NOT_KNOWN if self.packing_unseen else _shown(self.stages)

    def returned_set(self, place: int) -> frozenset[str] | None:
        """Return the recorded IDs of a stage's list as a set, None where they are unreadable."""
        return self._sets[place]

    def fed_set(self, place: int) -> frozenset[str]:
        """Return the recorded IDs of the readable lists that feed a stage."""
        feeding = self.feeds[place]
        found = self._fed.get(id(feeding))  # stages that are fed alike share the tuple
        if found is None:
            sets = [each for each in (self._sets[feed] for feed in feeding) if each is not None]
            found = self._fed[id(feeding)] = sets[0] if len(sets) == 1 else NOTHING.union(*sets)
        return found

    def input_set(self, place: int) -> frozenset[str] | None:
        """Return the IDs of a stage's input, None where they are unknown."""
        if place not in self._inputs:
            self._inputs[place] = self._input_set(place)
        return self._inputs[place]

    def _input_set(self, place: int) -> frozenset[str] | None:
        stage, feeding = self.stages[place], self.feeds[place]
        if stage.input is not None:
            if is_cut(stage.input, stage.input_count):
                return None
            # Most stages are handed just what the stage before returned: one set then serves both.
            if len(feeding) == 1 and stage.input == self.stages[feeding[0]].returned:
                return self._sets[feeding[0]]
            return frozenset(stage.input)
        if not feeding or any(self._sets[feed] is None or list_is_cut(self.stages[feed]) for feed in feeding):
            return None
        return self.fed_set(place)

    def was_handed_documents(self, place: int) -> bool:
        """Return whether a recorded input or a feeding list of a stage is not empty."""
        stage = self.stages[place]
        return bool(stage.input or stage.input_count) or any(
            self.stages[feed].returned or self.stages[feed].returned_count for feed in self.feeds[place]
        )

    def latest_before(self, place: int, wanted: Callable[[StageRecord], bool]) -> int | None:
        """Return the last wanted stage among those that feed a stage, directly or through others; None without one.

        Args:
            place: Of the stage that is fed.
            wanted: A function of a module; it is asked once about each stage, for all places together.
        """
        found = self._latest.get(wanted)
        if found is None:
            found = self._latest[wanted] = []
            last: tuple[int, ...] = ()
            nearest = -1
            for feeding in self.feeds:
                if feeding is not last:
                    last = feeding
                    nearest = max((feed if wanted(self.stages[feed]) else found[feed] for feed in feeding), default=-1)
                found.append(nearest)
        return None if found[place] < 0 else found[place]

    def first_fed_by(self, *places: int) -> int | None:
        """Return the first stage, no reader, that some stages feed together."""
        together = frozenset(places)
        for other, feeding in enumerate(self.feeds):
            if self.stages[other].kind != kinds.READER and len(feeding) >= len(together) and together.issubset(feeding):
                return other
        return None

    def first_returned(self, raw: str) -> int:
        """Return the first stage that returned an ID, in order; the ID is one that a stage returned."""
        if self._first_returned is None:
            self._first_returned = {}
            for place in range(len(self.stages) - 1, -1, -1):
                self._first_returned.update(dict.fromkeys(self._sets[place] or (), place))
        return self._first_returned[raw]

    def lacking(self, ids: AbstractSet[str], among: AbstractSet[str]) -> list[str]:
        """Return the IDs whose object is not among others, sorted; unreadable IDs are left out."""
        missing = NOTHING if ids is among else ids - among
        if not missing:
            return []
        if self.resolver is not None:
            canonical = self.resolver.canonical
            present = set(map(canonical, among))
            missing = {raw for raw in missing if canonical(raw) not in present}
        return sorted(raw for raw in missing if raw)

    def match(self, one: str, other: str) -> bool:
        """Return whether two IDs match: equal, or of one object and one of them is not a member."""
        if one == other:
            return True
        if self.resolver is None:
            return False
        owner = self.resolver.resolve(one)
        return (
            owner is not None
            and owner == self.resolver.resolve(other)
            and not (self.resolver.is_member(one) and self.resolver.is_member(other))
        )


def is_cut(ids: Sequence[str], count: int | None) -> bool:
    """Return whether a recorded list is shorter than the true one."""
    return count is not None and count > len(ids)


def list_is_cut(stage: StageRecord) -> bool:
    """Return whether a stage's recorded list is shorter than what it returned; False where unreadable."""
    return stage.returned is not None and is_cut(stage.returned, stage.returned_count)


def visible(stage: StageRecord) -> Sequence[bool]:
    """Return for each recorded ID of a showing stage whether text of it was shown; empty where unreadable."""
    ids = stage.returned or ()
    tokens = stage.id_tokens
    if tokens is None or len(tokens) != len(ids):
        return [True] * len(ids)
    return [count != 0 for count in tokens]


def _shown_places(stages: Sequence[StageRecord]) -> tuple[int, ...]:
    showing = [place for place, stage in enumerate(stages) if stage.kind in kinds.SHOWING]
    if showing:
        return tuple(place for place in showing if stages[place].round is None) or tuple(showing)
    others = [place for place, stage in enumerate(stages) if stage.kind != kinds.READER]
    return tuple(others[-1:])


def _shown(stages: Sequence[StageRecord]) -> ShownList:
    places = _shown_places(stages)
    lists = [_with_text(stages[place]) for place in places]
    ids = lists[0] if len(lists) == 1 else tuple(chain.from_iterable(lists))
    cut = next((number for number, place in enumerate(places, 1) if list_is_cut(stages[place])), None)
    known = len(ids) if cut is None else sum(map(len, lists[:cut]))
    usable = bool(places) and all(stages[place].returned is not None for place in places)
    return ShownList(places, ids, known, cut is not None, usable)


def _with_text(stage: StageRecord) -> Ids:
    ids = stage.returned or ()
    if stage.id_tokens is None or stage.kind not in kinds.SHOWING:
        return ids
    return tuple(compress(ids, visible(stage)))
