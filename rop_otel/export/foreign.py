"""The spans that others make, while they are open: which is below which, and which stages wait for their handoff.

Attributes set by hand may come as late as a span's end, so a stage waits at its nearest ancestor that is still open.
When that one ends and is a handoff, the stages waiting there are its own; when it is not, they move up. What has
ended is held by nothing but its open descendants, so nothing is kept of traces that are not ours.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from threading import RLock
from typing import Final, NamedTuple
from weakref import ref

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext, Status, StatusCode, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.core.handoff import StageRecord, attributes
from rop_otel.spans import from_sdk
from rop_otel.spans.conventions import Rules, as_stage, concerns, handoff_attributes
from rop_otel.tracing.here import Here
from rop_otel.tracing.ledger import OpenHandoff
from rop_otel.tracing.runtime import Runtime

_NOTHING: Final[attributes.Attributes] = {}
_MAX_WAITING: Final = 20_000
"""Stages that may wait at one span, which is more than any pipeline has."""


class _Remains(NamedTuple):
    """What is kept of the span of a stage beside its facts, under the names that the SDK has for it."""

    name: str
    start_time: int | None
    end_time: int | None
    status: Status
    dropped_attributes: int


class Node:
    """One span of somebody else's, from its start on.

    Args:
        span: The span. Until it ends it belongs to whoever started it, and is not kept alive here.
        parent: The open span above it, if that is one of somebody else's too.
        place: Where in one of our own handoffs it started, where the span above it is ours.
        rules: How spans of other conventions are read.

    Attributes:
        meant: The handoff that it is although it does not say so.
        outspoken: Whether a handoff that says so itself is below it.
        awaited: Whether a stage of another convention began below it, and may go on after it has ended.
    """

    __slots__ = (
        "_facts",
        "_finished",
        "_rules",
        "_running",
        "awaited",
        "context",
        "meant",
        "opened",
        "outspoken",
        "parent",
        "place",
        "runtime",
        "topmost",
        "waiting",
    )

    def __init__(self, span: ReadableSpan, parent: Node | None, place: Here | None, rules: Rules) -> None:
        self._running = ref(span)
        self._finished: ReadableSpan | _Remains | None = None
        self._rules = rules
        self._facts: attributes.Attributes | None = None
        self.meant: attributes.Attributes | None = None
        self.outspoken = False
        self.awaited = False
        self.topmost = parent is None and _is_topmost(span, place)
        self.context: SpanContext = span.get_span_context() or INVALID_SPAN_CONTEXT
        self.parent = parent
        self.place = place
        self.opened: OpenHandoff | None = None
        self.runtime: Runtime | None = None
        self.waiting: deque[Node] = deque(maxlen=_MAX_WAITING)

    def watch(self, span: ReadableSpan, given_up: Callable[[object], None]) -> None:
        """Call once its span is no longer held by anybody, should that be before it ends."""
        self._running = ref(span, given_up)

    def end(self, span: ReadableSpan) -> None:
        """Take the finished span."""
        self._finished = span

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._finished is not None

    @property
    def span(self) -> ReadableSpan | _Remains | None:
        """The span; None where it was given up without an end."""
        return self._finished or self._running()

    @property
    def start_ns(self) -> int:
        """When it started."""
        span = self.span
        return 0 if span is None else span.start_time or 0

    @property
    def end_ns(self) -> int:
        """When it ended."""
        return 0 if self._finished is None else self._finished.end_time or 0

    def keep(self, stage: Node, *, seconds: float) -> None:
        """Let a stage wait here; the ones that ended this much earlier have no handoff that could still end."""
        stage.shrink()
        oldest = stage.end_ns - seconds * 1e9
        while self.waiting and self.waiting[0].end_ns < oldest:
            self.waiting.popleft()
        self.waiting.append(stage)

    def shrink(self) -> None:
        """Keep nothing of an ended stage but what counts: its span may hold the texts of its documents."""
        span = self._finished
        if span is not None and self.facts:
            self._finished = _Remains(span.name, span.start_time, span.end_time, span.status, span.dropped_attributes)

    @property
    def facts(self) -> attributes.Attributes:
        """Its attributes as they are now: ours that they stand for, where it is a stage of another convention.

        None of a span that they make neither a stage nor a handoff.
        """
        if self._facts is not None:
            return self._facts
        span = self.span
        if span is None or isinstance(span, _Remains):
            return _NOTHING
        facts: attributes.Attributes = span.attributes or _NOTHING
        if concerns(facts, self._rules, lost=span.dropped_attributes):
            facts = as_stage(from_sdk(span), self._rules) or facts
        else:
            facts = _NOTHING
        if self._finished is not None:
            self._facts = facts
        return facts

    @property
    def is_stage(self) -> bool:
        """Whether it is a stage, by our attributes or in another convention."""
        return attributes.is_stage(self.facts)

    @property
    def is_handoff(self) -> bool:
        """Whether it is a handoff, by our attributes or because it is meant to be one."""
        return self.meant is not None or attributes.is_handoff(self.facts)

    @property
    def handoff_facts(self) -> attributes.Attributes:
        """The attributes of the handoff that it is."""
        return self.facts if self.meant is None else self.meant

    def becomes_handoff(self, running: Iterable[Node] = ()) -> bool:
        """Make it a handoff, now that it has ended, if the foreign stages that wait here mean it to be one.

        It is, where it is the topmost span that may be one and no handoff that says so itself is above or below.

        Args:
            running: Stages below it that go on.
        """
        span = self._finished
        if not isinstance(span, ReadableSpan) or self.outspoken:
            return False
        if not any(stage.is_homeless for stage in chain(self.waiting, running)):
            return False
        if self._rules.handoffs:
            place = self.top().place
            if not self._rules.may_be_handoff(span.name) or (place is not None and place.handoff is not None):
                return False
            if any(above.is_handoff or above.may_be_handoff for above in self.ancestors()):
                return False
        elif not self.topmost:
            return False
        said = handoff_attributes(span.attributes or _NOTHING, self._rules)
        self.meant = {semconv.HANDOFF_NAME: span.name, **said}
        return True

    @property
    def is_homeless(self) -> bool:
        """Whether it is a stage of another convention that names no handoff."""
        facts = self.facts
        return semconv.STAGE_FOREIGN in facts and attributes.named_handoff_id(facts) is None

    @property
    def may_be_handoff(self) -> bool:
        """Whether it may be a handoff by its name."""
        span = self.span
        return span is not None and self._rules.may_be_handoff(span.name)

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

    @property
    def trace_id(self) -> str:
        """Its trace, in hex."""
        return format_trace_id(self.context.trace_id)

    @property
    def span_id(self) -> str:
        """Its own ID, in hex."""
        return format_span_id(self.context.span_id)

    @property
    def handoff_id(self) -> str:
        """The ID of the handoff that it is, if it is one."""
        return attributes.handoff_id(self.handoff_facts, trace_id=self.trace_id, span_id=self.span_id)

    def ancestors(self) -> Iterator[Node]:
        """Give the spans above it, nearest first, also those that have ended."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def shorten(self) -> None:
        """Let go of what is above it and can matter no more, so that spans that follow one another make no chain."""
        above = self.parent
        while above is not None and above.ended and (above.is_handoff or not above.is_stage):
            if above.is_handoff:
                above.parent = above.place = None
                return
            self.parent, self.place = above.parent, above.place
            above = self.parent

    def top(self) -> Node:
        """Return the highest span above it that is somebody else's, or itself."""
        node = self
        for above in self.ancestors():
            node = above
        return node

    def belongs_to(self, handoff_id: str) -> bool:
        """Return whether a stage that waits at this handoff is one of its own."""
        named = attributes.named_handoff_id(self.facts)
        return named is None or named == handoff_id

    def record(self) -> StageRecord | None:
        """Return the stage's facts; None where it is no stage. One that is still open has no end."""
        span = self.span
        if span is None:
            return None
        return attributes.stage_record(
            self.facts,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=self._stage_above(self.belonging()),
            start_ns=self.start_ns,
            end_ns=self.end_ns if self.ended else None,
            failed=span.status.status_code is StatusCode.ERROR,
            dropped_attributes=span.dropped_attributes,
        )

    def unfinished(self) -> StageRecord:
        """Return the facts of a stage that is still open, as the ledger asks for them when its handoff ends."""
        record = self.record()
        if record is None:
            raise LookupError(f"span {self.span_id} is no stage any more")
        return record

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


class OpenSpans:
    """The spans of others that have started and not ended. Its own methods are safe in any thread.

    Attributes:
        lock: Held while stages move between spans.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start over without any span and with a lock that nobody holds, as a forked process has to."""
        self.lock = RLock()
        self._nodes: dict[tuple[int, int], Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def above(self, span: ReadableSpan) -> Node | None:
        """Return the open span above one that starts; None where that is our own, remote or none."""
        parent = span.parent
        node = None if parent is None else self._nodes.get((parent.trace_id, parent.span_id))
        if node is not None:
            node.shorten()
        return node

    def add(self, span: ReadableSpan, node: Node) -> bool:
        """Take in a span that starts; False where another processor has done so."""
        key = (node.context.trace_id, node.context.span_id)
        with self.lock:
            if key in self._nodes:
                return False
            self._nodes[key] = node
        node.watch(span, lambda _: self._give_up(key))
        return True

    def _give_up(self, key: tuple[int, int]) -> None:
        """Forget a span that nobody can end any more. Called by the garbage collector, so it takes no lock."""
        node = self._nodes.pop(key, None)
        if node is not None and node.opened is not None and node.runtime is not None:
            node.runtime.ledger.abandon(node.opened)

    def take(self, span: ReadableSpan) -> Node | None:
        """Take out a span that has ended; None where it is not here."""
        context = span.get_span_context()
        if context is None or not self._nodes:
            return None
        with self.lock:
            node = self._nodes.pop((context.trace_id, context.span_id), None)
            if node is not None:
                node.end(span)
        return node

    def running_stages(self, handoff: Node) -> list[Node]:
        """Return the stages below a handoff that go on although it has ended."""
        with self.lock:
            nodes = list(self._nodes.values())
        return [
            node
            for node in nodes
            if node.is_stage and handoff in node.ancestors() and node.belongs_to(handoff.handoff_id)
        ]


PROCESS_SPANS: Final = OpenSpans()
"""Those of this process."""

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=PROCESS_SPANS.forget)
