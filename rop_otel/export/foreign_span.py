"""One span of others: its facts, while it runs and after it has ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext

from rop_otel import semconv
from rop_otel.assembling import Elsewhere, Node, Reading, read
from rop_otel.assembling.span_tree import RETRIEVAL
from rop_otel.core.handoff import StageRecord
from rop_otel.core.handoff.attributes import is_handoff
from rop_otel.safety import WhenGone
from rop_otel.spans import from_sdk
from rop_otel.spans.conventions import Rules, concerns
from rop_otel.tracing.position.context_position import Position
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.runtime import Runtime


class ForeignSpan(Node):
    """A span of others in its place in the tree, from its start on.

    Args:
        span: The span. Until it ends it is not kept alive here.
        place: Where in one of our own handoffs it started, where no span above it is here.
        rules: How spans of other conventions are read.
        give_up: Called with its key where nobody has its span any more, before that has ended.

    Attributes:
        context: Its trace and its own ID.
        opened: The handoff that it is as the ledger has it, where it said so at its start.
        runtime: What that handoff is assessed with.
        announced: The open handoff that it is known to as a stage, while it runs or waits.
        counted: Whether it has been counted as a stage.
    """

    __slots__ = ("_finished", "_may_be", "_rules", "_running", "announced", "context", "counted", "opened", "runtime")

    def __init__(
        self, span: ReadableSpan, place: Position | None, rules: Rules, give_up: Callable[[tuple[int, int]], object]
    ) -> None:
        self.context: SpanContext = span.get_span_context() or INVALID_SPAN_CONTEXT
        super().__init__((self.context.trace_id, self.context.span_id))
        self._finished: ReadableSpan | None = None
        self._rules = rules
        self.within = None if place is None else _elsewhere(place)
        may_be = bool(rules.handoffs) or (place is not None and self.within is None and _starts_trace(span, place))
        self._may_be = may_be and not is_ours(span)
        self.opened: OpenHandoff | None = None
        self.runtime: Runtime | None = None
        self.announced: OpenHandoff | None = None
        self.counted = False
        self._running = WhenGone(span, partial(give_up, self.key))

    def finish(self, span: ReadableSpan) -> None:
        """Take the finished span."""
        self._running.cancel()
        self._finished = span
        self.ended = True

    def read(self) -> Reading | None:
        """Return its facts now; None if it is no part of a handoff. Nothing else is kept of it when it has ended.

        Its span may hold the texts of its documents.
        """
        finished = self._finished
        if finished is None:
            running = None if self.ended else self._running()
            return self.found if running is None else self._look(running)
        self.found = self._look(finished)
        self._finished = None
        return self.found

    def _look(self, span: ReadableSpan) -> Reading | None:
        rules = self._rules
        concerned = concerns(span.attributes or {}, rules, lost=span.dropped_attributes)
        if not concerned and not (self.ended and self.holds & RETRIEVAL):
            return None  # nearly every span
        return read(from_sdk(span), rules, may_be_handoff=self._may_be)

    @property
    def says_handoff(self) -> bool:
        """Whether its attributes say that it is a handoff; without reading its documents, since all below one ask."""
        span = None if self.ended else self._running()
        return super().says_handoff if span is None else is_handoff(span.attributes or {})

    @property
    def may_be_handoff(self) -> bool:
        """Whether it may be a handoff that does not say so: the first span of its trace here, or one by its name."""
        span = None if self.ended else self._running()
        if span is None:
            return super().may_be_handoff
        return self._may_be and self._rules.may_be_handoff(span.name)

    def unfinished(self) -> StageRecord:
        """Return the facts of a stage that runs or waits, as the ledger asks for them when its handoff ends."""
        reading, opened = self.read(), self.announced
        parent_id = None if opened is None else self.stage_above(opened.handoff_id)
        record = None if reading is None else reading.stage_record(parent_id=parent_id, ended=self.ended)
        if record is None:
            raise LookupError(f"span {self.key!r} is no stage any more")
        self.counted, self.announced = self.ended, None
        return record


def is_ours(span: ReadableSpan) -> bool:
    """Return whether our own API made a span."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE_NAME


def _elsewhere(place: Position) -> Elsewhere | None:
    """Return a place in a handoff of ours, None for one in none."""
    handoff, stage = place.handoff, place.stage
    if handoff is None:
        return None
    return Elsewhere(handoff.id, stage.span_id if stage is not None and stage._handoff is handoff else None)


def _starts_trace(span: ReadableSpan, place: Position) -> bool:
    """Return whether a span of others, with no open span of others above it, is the first of its trace in this process.

    Below a stage of ours that has no handoff it is the first span of others. Anything else is below a span that
    has ended already, or was never recorded.
    """
    return span.parent is None or span.parent.is_remote or place.stage is not None
