"""The graph of one handoff's stages, which the checks query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.arrangement import arrange
from rop_otel.core.handoff.feeds import Fed
from rop_otel.core.handoff.nesting import Regions
from rop_otel.core.handoff.record import HandoffRecord, StageRecord
from rop_otel.core.handoff.shown_list import ShownList, is_cut, list_is_cut, shown_list
from rop_otel.core.profile import Resolver

NO_IDS: Final[frozenset[str]] = frozenset()


class StageGraph:
    """The stages of one handoff, each known by its place, and what feeds which.

    Args:
        record: The facts.
        resolver: The resolver in force, None without one.

    Attributes:
        stages: Those that count, in order.
        places: The place of each among all spans of stages, those left out included.
        left_out: The stages that ended late, and the packings and rescues that failed.
        feeds: What feeds each stage.
        within: What the own block of a stage hands on, for each that encloses others.
        parallel: The sources next to each other in a chain, or one alone.
        showing: The packing and rescue stages.
        shown: What the reader was shown.
        returned_sets: The recorded IDs of each stage's list as a set, None where they are unreadable.
    """

    def __init__(self, record: HandoffRecord, resolver: Resolver | None) -> None:
        self.record = record
        self.resolver = resolver
        self.stages, self.places, self.left_out, feeds, self._around = arrange(record)
        self.feeds, self.within, self.parallel, end = feeds
        self.returned_sets = [None if stage.returned is None else frozenset(stage.returned) for stage in self.stages]
        self._fed: dict[int, frozenset[str]] = {}
        self._known: dict[int, bool] = {}
        self._given: dict[int, frozenset[str]] = {}
        self._latest: dict[Callable[[StageRecord], bool], list[int]] = {}
        self.showing = [place for place, stage in enumerate(self.stages) if stage.kind in kinds.SHOWING]
        self.shown: ShownList = ShownList()
        if not record.gaps:
            self.shown = shown_list(
                self.stages,
                showing=self.showing,
                enclosed=self._enclosed_showing(),
                end=end.places,
                lost=record.failed or self.packing_left_out,
            )

    @property
    def packing_left_out(self) -> bool:
        """Whether a packing failed or ended late."""
        return any(each.stage.kind == kinds.PACKING for each in self.left_out)

    @property
    def nested(self) -> bool:
        """Whether a stage encloses another one."""
        return bool(self._around)

    def around(self, place: int) -> int | None:
        """Return the stage that encloses another one; None where none does."""
        return self._around[place] if self._around else None

    @cached_property
    def regions(self) -> Regions:
        """Which stages lie within which."""
        return Regions(self._around or [None] * len(self.stages))

    def encloses(self, place: int, other: int) -> bool:
        """Return whether a stage encloses another one."""
        return bool(self._around) and self.regions.encloses(place, other)

    def _enclosed_showing(self) -> list[int]:
        """Return the packing and rescue stages that another one of them encloses."""
        if not self._around:
            return []
        within = [False] * len(self.stages)
        for place in range(len(self.stages) - 1, -1, -1):
            around = self._around[place]
            if around is not None:
                within[place] = within[around] or self.stages[around].kind in kinds.SHOWING
        return [place for place in self.showing if within[place]]

    def fed_set(self, fed: Fed) -> frozenset[str]:
        """Return the recorded IDs of the readable lists of some stages."""
        found = self._fed.get(id(fed))  # stages that are fed alike share what feeds them
        if found is None:
            found = self._fed[id(fed)] = self.union(fed.places)
        return found

    def union(self, places: Sequence[int]) -> frozenset[str]:
        """Return the recorded IDs of the readable lists of some stages; one list's is not copied."""
        if len(places) == 1:
            return self.returned_sets[places[0]] or NO_IDS
        return NO_IDS.union(*(each for place in places if (each := self.returned_sets[place]) is not None))

    def are_known(self, fed: Fed) -> bool:
        """Return whether the lists of some stages are readable and uncut, all of them."""
        found = self._known.get(id(fed))
        if found is None:
            found = self._known[id(fed)] = not any(
                self.returned_sets[place] is None or list_is_cut(self.stages[place]) for place in fed.places
            )
        return found

    def given_set(self, place: int) -> frozenset[str]:
        """Return the IDs of a stage's recorded input, as far as they were recorded; none where it was not."""
        found = self._given.get(place)
        if found is None:
            recorded, fed = self.stages[place].input or (), self.feeds[place].places
            # Most stages are handed just what the stage before returned: one set then serves both.
            same = self.returned_sets[fed[0]] if len(fed) == 1 and recorded == self.stages[fed[0]].returned else None
            found = self._given[place] = frozenset(recorded) if same is None else same
        return found

    def has_known_record(self, place: int) -> bool:
        """Return whether a stage recorded an uncut input."""
        stage = self.stages[place]
        count = stage.input_count
        return stage.input is not None and (count is None or count <= len(stage.input))

    def input_set(self, place: int) -> frozenset[str] | None:
        """Return the IDs of a stage's input, None where they are unknown."""
        if self.stages[place].input is not None:
            return self.given_set(place) if self.has_known_record(place) else None
        fed = self.feeds[place]
        return self.fed_set(fed) if fed.places and self.are_known(fed) else None

    def was_handed_documents(self, place: int) -> bool:
        """Return whether a recorded input or a feeding list of a stage is not empty."""
        stage = self.stages[place]
        return (stage.input is not None and bool(stage.input or is_cut(stage.input, stage.input_count))) or any(
            self.stages[feed].true_count for feed in self.feeds[place].places
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
            last: Fed | None = None
            nearest = -1
            for feeding in self.feeds:
                if feeding is not last:
                    last = feeding
                    nearest = -1
                    for feed in feeding.places:
                        nearest = max(nearest, feed if wanted(self.stages[feed]) else found[feed])
                found.append(nearest)
        return None if found[place] < 0 else found[place]

    @cached_property
    def _first_fed(self) -> dict[int, int]:
        first: dict[int, int] = {}
        seen: set[int] = set()
        for place, feeding in enumerate(self.feeds):
            if self.stages[place].kind != kinds.READER and id(feeding) not in seen:
                seen.add(id(feeding))
                for feed in feeding.places:
                    first.setdefault(feed, place)
        return first

    def first_fed_by(self, place: int) -> int | None:
        """Return the first stage, no reader, that a stage feeds."""
        return self._first_fed.get(place)

    def lacking(self, ids: AbstractSet[str], among: AbstractSet[str]) -> list[str]:
        """Return the IDs whose object is not among others, sorted; unreadable IDs are left out."""
        missing = NO_IDS if ids is among else ids - among
        if not missing:
            return []
        if self.resolver is not None:
            canonical = self.resolver.canonical
            present = set(map(canonical, among))
            missing = {raw for raw in missing if canonical(raw) not in present}
        return sorted(raw for raw in missing if raw)

    def object_of(self, raw: str) -> str:
        """Return the object that an ID belongs to; without a resolver the ID itself."""
        return raw if self.resolver is None else self.resolver.canonical(raw)
