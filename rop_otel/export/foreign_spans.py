"""The spans of others in this process, in any thread: those that run, and the stages that wait for their handoff."""

from __future__ import annotations

from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext

from rop_otel.assembling import Assembler
from rop_otel.export.foreign_span import ForeignSpan
from rop_otel.safety import in_child


class ForeignSpans(Assembler):
    """Puts the spans of others together as they start and end. Its own methods are safe in any thread."""

    def at(self, context: SpanContext | None) -> ForeignSpan | None:
        """Return the span with these IDs; None where it is our own, remote, over or none."""
        if context is None or not self._nodes:
            return None
        node = self._nodes.get((context.trace_id, context.span_id))
        return node if isinstance(node, ForeignSpan) else None

    @property
    def are_there(self) -> bool:
        """Whether there are any."""
        return bool(self._nodes)

    def take(self, span: ReadableSpan) -> ForeignSpan | None:
        """Return the place of a span that has just ended; None where it is not here, or has been taken before."""
        node = self.at(span.get_span_context())
        if node is not None:
            with self.lock:
                if node.ended:
                    return None
                node.finish(span)
        return node

    def give_up(self, key: tuple[int, int]) -> None:
        """Forget a span that nobody can end any more."""
        node = self._nodes.get(key)
        if not isinstance(node, ForeignSpan) or node.ended:
            return
        self.expired(node)
        if node.opened is not None and node.runtime is not None:
            node.runtime.ledger.abandon(node.opened)


PROCESS_SPANS: Final = ForeignSpans()
"""Those of this process."""

in_child(PROCESS_SPANS.forget)
