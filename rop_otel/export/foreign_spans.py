"""The spans of others in this process, in any thread: those that run, and the stages that wait for their handoff."""

from __future__ import annotations

from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rop_otel.assembling import Assembler, Node
from rop_otel.export.foreign_span import ForeignSpan
from rop_otel.safety import catch_up, in_child


class ForeignSpans(Assembler):
    """Puts the spans of others together as they start and end. Its own methods are safe in any thread."""

    def __len__(self) -> int:
        catch_up()
        return super().__len__()

    def above(self, span: ReadableSpan) -> Node | None:
        """Return the span above one that starts; None where that is our own, remote, over or none."""
        parent = span.parent
        return None if parent is None else self._nodes.get((parent.trace_id, parent.span_id))

    def take(self, span: ReadableSpan) -> ForeignSpan | None:
        """Return the place of a span that has just ended, where it may matter; None once it has been taken."""
        context = span.get_span_context()
        node = None if context is None else self._nodes.get((context.trace_id, context.span_id))
        if not isinstance(node, ForeignSpan):
            return None
        with self.lock:
            if node.ended:
                return None
            node.finish(span)
        if node.read() is None and not node.below and node.opened is None:  # nearly every span
            self.release(node)
            return None
        return node

    def give_up(self, key: tuple[int, int]) -> None:
        """Forget a span that nobody can end any more."""
        node = self.expired(key)
        if isinstance(node, ForeignSpan) and node.opened is not None and node.runtime is not None:
            node.runtime.ledger.abandon(node.opened)


PROCESS_SPANS: Final = ForeignSpans()
"""Those of this process."""

in_child(PROCESS_SPANS.forget)
