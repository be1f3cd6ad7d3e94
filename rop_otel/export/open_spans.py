"""The spans of others that are open now, in any thread."""

from __future__ import annotations

from functools import partial
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rop_otel.export.node import Node
from rop_otel.safety import WhenGone, catch_up, create_lock, in_child


class OpenSpans:
    """The spans of others that have started and not ended. Its own methods are safe in any thread.

    Attributes:
        lock: Held while stages move between spans.
    """

    def __init__(self) -> None:
        self.lock = create_lock()
        self._nodes: dict[tuple[int, int], Node] = {}

    def forget(self) -> None:
        """Start over without any span, as a forked process has to."""
        self._nodes = {}

    def __len__(self) -> int:
        catch_up()
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
        node.gone = WhenGone(span, partial(self._give_up, key))
        return True

    def _give_up(self, key: tuple[int, int]) -> None:
        """Forget a span that nobody can end any more."""
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
                if node.gone is not None:
                    node.gone.cancel()
                    node.gone = None
                node.end(span)
        return node

    def running_stages(self, handoff: Node) -> list[Node]:
        """Return the stages below a handoff that go on although it has ended."""
        with self.lock:
            nodes = [node for node in self._nodes.values() if node.number > handoff.number]
        return [
            node
            for node in nodes
            if node.is_stage and handoff in node.ancestors() and node.belongs_to(handoff.handoff_id)
        ]


PROCESS_SPANS: Final = OpenSpans()
"""Those of this process."""

in_child(PROCESS_SPANS.forget)
