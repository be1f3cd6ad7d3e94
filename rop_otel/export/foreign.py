"""The spans that others make, while they are open: which is below which, and which stages wait for their handoff.

Attributes set by hand may come as late as a span's end, so a stage waits at its nearest ancestor that is still open.
When that one ends and is a handoff, the stages waiting there are its own; when it is not, they move up. What has
ended is held by nothing but its open descendants, so nothing is kept of traces that are not ours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext, StatusCode, format_span_id, format_trace_id

from rop_otel.core.handoff import StageRecord, attributes
from rop_otel.tracing.here import Here
from rop_otel.tracing.ledger import OpenHandoff
from rop_otel.tracing.runtime import Runtime

_MAX_WAITING: Final = 10_000
"""Stages that may wait at one span; ten thousand stages in one handoff are more than any pipeline has."""


class Node:
    """One span of somebody else's, from its start on.

    Args:
        span: The span; the SDK's own until it ends, then the finished copy.
        parent: The open span above it, if that is one of somebody else's too.
        place: Where in one of our own handoffs it started, where the span above it is ours.
    """

    __slots__ = ("context", "ended", "opened", "parent", "place", "runtime", "span", "waiting")

    def __init__(self, span: ReadableSpan, parent: Node | None, place: Here | None) -> None:
        self.span = span
        self.context: SpanContext = span.get_span_context() or INVALID_SPAN_CONTEXT
        self.parent = parent
        self.place = place
        self.ended = False
        self.opened: OpenHandoff | None = None
        self.runtime: Runtime | None = None
        self.waiting: deque[Node] = deque(maxlen=_MAX_WAITING)

    @property
    def facts(self) -> attributes.Attributes:
        """Its attributes as they are now."""
        return self.span.attributes or {}

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
        return attributes.handoff_id(self.facts, trace_id=self.trace_id, span_id=self.span_id)

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

    def belongs_to(self, handoff_id: str) -> bool:
        """Return whether a stage that waits at this handoff is one of its own."""
        named = attributes.named_handoff_id(self.facts)
        return named is None or named == handoff_id

    def record(self) -> StageRecord | None:
        """Return the stage's facts; None where it is no stage. One that is still open has no end."""
        span = self.span
        return attributes.stage_record(
            self.facts,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=self._enclosing_stage(),
            start_ns=span.start_time or 0,
            end_ns=span.end_time if self.ended else None,
            failed=span.status.status_code is StatusCode.ERROR,
            dropped_attributes=span.dropped_attributes,
        )

    def _enclosing_stage(self) -> str | None:
        named = attributes.named_handoff_id(self.facts)
        top = self
        for above in self.ancestors():
            if attributes.is_handoff(above.facts):
                return None
            if attributes.is_stage(above.facts) and attributes.named_handoff_id(above.facts) == named:
                return above.span_id
            top = above
        stage = None if top.place is None else top.place.stage
        return None if stage is None else stage.span_id
