"""The spans that others make as a tree: which is below which, and which stages wait for their handoff.

Attributes set by hand may come as late as a span's end, so a stage waits at its nearest ancestor that is still open.
When that one ends and is a handoff, the stages waiting there are its own; when it is not, they move up. What has
ended is held by nothing but its open descendants, so nothing is kept of traces that are not ours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rop_otel.core.handoff import StageRecord, attributes
from rop_otel.export.foreign import ForeignSpan
from rop_otel.spans.conventions import Rules
from rop_otel.tracing.here import Here
from rop_otel.tracing.ledger import OpenHandoff
from rop_otel.tracing.runtime import Runtime

_MAX_WAITING: Final = 20_000
"""Stages that may wait at one span, which is more than any pipeline has."""

_numbers: Final = count(1)


class Node(ForeignSpan):
    """A span of somebody else's in its place among the others.

    Args:
        span: The span.
        parent: The open span above it, if that is one of somebody else's too.
        place: Where in one of our own handoffs it started, where the span above it is ours.
        rules: How spans of other conventions are read.

    Attributes:
        meant: The handoff that it is although it does not say so.
        outspoken: Whether a handoff that says so itself is below it.
        awaited: Whether a stage of another convention began below it, and may go on after it has ended.
        number: Counts the spans in the order of their starts.
        opened: The handoff that it is as the ledger has it, where it said so at its start.
        runtime: What that handoff is assessed with.
        topmost: Whether it is the first span of its trace in this process that is somebody else's.
        waiting: Stages that wait for it to end, itself among them where it is one.
    """

    __slots__ = (
        "awaited",
        "meant",
        "number",
        "opened",
        "outspoken",
        "parent",
        "place",
        "runtime",
        "topmost",
        "waiting",
    )

    def __init__(self, span: ReadableSpan, parent: Node | None, place: Here | None, rules: Rules) -> None:
        super().__init__(span, rules)
        self.number = next(_numbers)
        self.meant: attributes.Attributes | None = None
        self.outspoken = False
        self.awaited = False
        self.topmost = parent is None and _is_topmost(span, place)
        self.parent = parent
        self.place = place
        self.opened: OpenHandoff | None = None
        self.runtime: Runtime | None = None
        self.waiting: deque[Node] = deque(maxlen=_MAX_WAITING)

    def begin(self) -> None:
        """Note at all spans above what it says of itself already at its start."""
        if attributes.is_handoff(self.facts):
            self.speak_out()
        elif self.is_homeless:
            for above in self.ancestors():
                above.awaited = True

    def speak_out(self) -> None:
        """Note at all spans above that a handoff below them says itself that it is one."""
        for above in self.ancestors():
            above.outspoken = True

    def keep(self, stage: Node, *, seconds: float) -> None:
        """Let a stage wait here; the ones that ended this much earlier have no handoff that could still end."""
        stage.shrink()
        oldest = stage.end_ns - seconds * 1e9
        while self.waiting and self.waiting[0].end_ns < oldest:
            self.waiting.popleft()
        self.waiting.append(stage)

    def ancestors(self) -> Iterator[Node]:
        """Give the spans above it, nearest first, also those that have ended."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def top(self) -> Node:
        """Return the highest span above it that is somebody else's, or itself."""
        node = self
        for above in self.ancestors():
            node = above
        return node

    def shorten(self) -> None:
        """Let go of what is above it and can matter no more, so that spans that follow one another make no chain."""
        above = self.parent
        while above is not None and above.ended and (above.is_handoff or not above.is_stage):
            if above.is_handoff:
                above.parent = above.place = None
                return
            self.parent, self.place = above.parent, above.place
            above = self.parent

    @property
    def is_handoff(self) -> bool:
        """Whether it is a handoff, by our attributes or because it is meant to be one."""
        return self.meant is not None or self.says_handoff

    @property
    def handoff_facts(self) -> attributes.Attributes:
        """The attributes of the handoff that it is, as this process may repeat them."""
        return self.admitted_facts if self.meant is None else self.meant

    @property
    def handoff_id(self) -> str:
        """The ID of the handoff that it is, if it is one."""
        return attributes.handoff_id(self.meant or self.facts, trace_id=self.trace_id, span_id=self.span_id)

    def becomes_handoff(self, running: Iterable[Node] = ()) -> bool:
        """Make it a handoff, now that it has ended, if the foreign stages that wait here mean it to be one.

        It is, where it is the topmost span that may be one and no handoff that says so itself is above or below.

        Args:
            running: Stages below it that go on.
        """
        if self.outspoken or not any(stage.is_homeless for stage in chain(self.waiting, running)):
            return False
        topmost = self._is_topmost_of_its_name() if self._rules.handoffs else self.topmost
        if topmost:
            self.meant = self.taken_for_handoff()
        return self.meant is not None

    def _is_topmost_of_its_name(self) -> bool:
        """Return whether it may be a handoff by its name, and no span above it is one or may be one."""
        place = self.top().place
        if not self.may_be_handoff or (place is not None and place.handoff is not None):
            return False
        return not any(above.is_handoff or above.may_be_handoff for above in self.ancestors())

    def belongs_to(self, handoff_id: str) -> bool:
        """Return whether a stage that waits at this handoff is one of its own."""
        named = attributes.named_handoff_id(self.facts)
        return named is None or named == handoff_id

    def belonging(self) -> str | None:
        """Return the ID of the handoff that it belongs to: the one that it names, else the nearest one above it."""
        named = attributes.named_handoff_id(self.facts)
        if named is not None:
            return named
        if self.meant is not None:
            return self.handoff_id
        for above in self.ancestors():
            if above.is_handoff:
                return above.handoff_id
        place = self.top().place
        return None if place is None or place.handoff is None else place.handoff.id

    def record(self) -> StageRecord | None:
        """Return the stage's facts; None where it is no stage. One that is still open has no end."""
        return self.stage_record(parent_id=self._stage_above(self.belonging()))

    def unfinished(self) -> StageRecord:
        """Return the facts of a stage that is still open, as the ledger asks for them when its handoff ends."""
        record = self.record()
        if record is None:
            raise LookupError(f"span {self.span_id} is no stage any more")
        return record

    def stage_at_or_above(self, handoff_id: str) -> str | None:
        """Return the span ID of the nearest stage of a handoff at or above it, None where there is none."""
        if self.is_stage and self.belonging() == handoff_id:
            return self.span_id
        return self._stage_above(handoff_id)

    def _stage_above(self, handoff_id: str | None) -> str | None:
        for above in self.ancestors():
            if above.is_stage and above.belonging() == handoff_id:
                return above.span_id
        place = self.top().place
        if place is None or place.stage is None or place.handoff is None:
            return None
        inside = place.handoff.id == handoff_id and place.stage._handoff is place.handoff
        return place.stage.span_id if inside else None


def _is_topmost(span: ReadableSpan, place: Here | None) -> bool:
    """Return whether a span below no open one of somebody else's is the first of its trace in this process.

    Below a stage of ours that has no handoff it is the first of somebody else's. Anything else is below a span that
    has ended already, or was never recorded, or belongs to a handoff of ours.
    """
    if place is not None and place.handoff is not None:
        return False
    return span.parent is None or span.parent.is_remote or (place is not None and place.stage is not None)
