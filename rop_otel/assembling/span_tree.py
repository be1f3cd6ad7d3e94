"""The tree of spans: which span is above which, and which handoffs and retrievals lie below each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from rop_otel.assembling.span_facts import Reading
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.handoff.attributes import Attributes, handoff_id, handoff_record

Key = tuple[Any, Any]
"""Trace ID and span ID, both in the form that the door has them in."""

HANDOFF: Final = 1
"""A handoff that says so is at a span or below it."""

RETRIEVAL: Final = 2
"""A stage of another convention that names no handoff is, or was, at a span or below it."""


class Elsewhere(NamedTuple):
    """A handoff that is assembled elsewhere, and a place in it.

    Args:
        handoff_id: Its ID.
        stage_id: Span ID of the innermost of its stages at that place.
    """

    handoff_id: str
    stage_id: str | None = None


class Node:
    """A span among the others. Of one that has not arrived only its place is known: it is above those that name it.

    Args:
        key: Its trace and span ID.

    Attributes:
        above: The span above it.
        below: The spans below it.
        within: Where it lies in a handoff that is assembled elsewhere, for one with no span above.
        holds: What is at it or below it: :data:`HANDOFF`, :data:`RETRIEVAL`, both or neither.
        ended: Whether it has ended.
        implied: Whether it is a handoff although it does not say so.
        found: Its facts, once it has ended.
        parent_id: Span ID of its parent as it was received first; None where it has none, or was not received.
        repeated: Whether it was received as different spans, of which one may be lost.
    """

    __slots__ = ("above", "below", "ended", "found", "holds", "implied", "key", "parent_id", "repeated", "within")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.above: Node | None = None
        self.below: dict[Node, None] = {}
        self.within: Elsewhere | None = None
        self.holds = 0
        self.ended = False
        self.implied = False
        self.found: Reading | None = None
        self.parent_id: str | None = None
        self.repeated = False

    def read(self) -> Reading | None:
        """Return its facts now; None where it is no part of a handoff."""
        return self.found

    @property
    def says_handoff(self) -> bool:
        """Whether it says that it is a handoff."""
        reading = self.read()
        return reading is not None and reading.is_handoff

    @property
    def may_be_handoff(self) -> bool:
        """Whether it may be a handoff that does not say so."""
        reading = self.read()
        return reading is not None and reading.as_handoff is not None

    @property
    def is_handoff(self) -> bool:
        """Whether it is a handoff."""
        return self.implied or self.says_handoff

    @property
    def handoff_id(self) -> str:
        """The ID of the handoff that it is."""
        reading, facts = self._handoff()
        return handoff_id(facts, trace_id=reading.trace_id, span_id=reading.span_id)

    def handoff_record(self, stages: Iterable[StageRecord] = ()) -> HandoffRecord:
        """Return the handoff that it is, with its stages."""
        reading, facts = self._handoff()
        return handoff_record(
            facts,
            trace_id=reading.trace_id,
            span_id=reading.span_id,
            start_ns=reading.start_ns,
            end_ns=reading.end_ns,
            stages=stages,
            failed=reading.failed,
        )

    def _handoff(self) -> tuple[Reading, Attributes]:
        reading = self.read()
        facts = None if reading is None else (reading.implied if self.implied else reading.facts)
        if reading is None or facts is None:
            raise LookupError(f"span {self.key!r} is no handoff")
        return reading, facts

    def put_below(self, above: Node | None) -> None:
        """Place it below another span, None for at the top."""
        if self.above is not None:
            self.above.below.pop(self, None)
        self.above = above
        if above is not None:
            above.below[self] = None
            above.hold(self.holds)

    def take_out(self) -> None:
        """Take it out from between the span above it and those below it."""
        for each in list(self.below):
            each.put_below(self.above)
            each.within = self.within
        if self.above is not None:
            self.above.below.pop(self, None)

    def note(self) -> Reading | None:
        """Note its facts at it and at all spans above, and return them."""
        reading = self.read()
        if reading is not None and reading.is_handoff:
            self.hold(HANDOFF)
        elif reading is not None and reading.is_homeless:
            self.hold(RETRIEVAL)
        return reading

    def hold(self, what: int) -> None:
        """Note at it, and at all spans above, what is there or below. Above a span that has the note all have it."""
        node: Node | None = self
        while node is not None and node.holds | what != node.holds:
            node.holds |= what
            node = node.above

    def ancestors(self) -> Iterator[Node]:
        """Yield the spans above it, nearest first."""
        above = self.above
        while above is not None:
            yield above
            above = above.above

    def is_below_open(self) -> bool:
        """Return whether a span above it has not ended, below any handoff that has."""
        for above in self.ancestors():
            if not above.ended or above.is_handoff:
                return not above.ended
        return False

    def nearest_handoff(self) -> Node | Elsewhere | None:
        """Return the nearest handoff at it or above; None where there is none."""
        node = self
        while not node.is_handoff:
            if node.above is None:
                return node.within
            node = node.above
        return node

    def stage_above(self, handoff_id: str) -> str | None:
        """Return the span ID of the nearest stage of a handoff above it, None where there is none."""
        if self.above is not None:
            return self.above.stage_at_or_above(handoff_id)
        return self.within.stage_id if self.within is not None and self.within.handoff_id == handoff_id else None

    def stage_at_or_above(self, handoff_id: str) -> str | None:
        """Return the span ID of the nearest stage of a handoff at it or above, None where there is none."""
        node = self
        while True:
            reading = node.read()
            if reading is not None and reading.is_stage:
                owner = owner_of(reading, node.nearest_handoff(), Elsewhere)
                if owner is not None and owner.handoff_id == handoff_id:
                    return reading.span_id
            if node.above is None:
                return node.stage_above(handoff_id)
            node = node.above


Owner = Node | Elsewhere
"""A handoff, as the one that a stage belongs to."""

ByName = Callable[[str], Owner | None]
"""Finds a handoff by its ID."""


def owner_of(stage: Reading, nearest: Owner | None, by_name: ByName) -> Owner | None:
    """Return the handoff that a stage belongs to: the one that it names, else the nearest one at it or above."""
    named = stage.named
    if named is None or (nearest is not None and nearest.handoff_id == named):
        return nearest
    return by_name(named)


def cut_circles(nodes: Iterable[Node]) -> None:
    """Let no span stand above itself: a circle is cut above its first handoff or, without one, its first span."""
    known: set[Node] = set()
    for start in nodes:
        if start.above is None or start.above in known:
            known.add(start)
            continue
        walked: dict[Node, None] = {}
        node: Node | None = start
        while node is not None and node not in known and node not in walked:
            walked[node] = None
            node = node.above
        if node is not None and node in walked:
            ring = list(walked)
            ring = ring[ring.index(node) :]
            min(ring, key=lambda each: (not each.says_handoff, each.key)).put_below(None)
        known.update(walked)
