"""Which spans are handoffs although they do not say so: the topmost ones above retrieval of other conventions.

Such a handoff is the topmost span, of those that may be one, at or above a stage of another convention that has no
handoff. If a span below it says that it is a handoff, the application has defined its handoffs, and none is added.
"""

from __future__ import annotations

from collections.abc import Iterable

from rop_otel.assembling.span_tree import HANDOFF, RETRIEVAL, Node


def imply_handoffs(tops: Iterable[Node]) -> None:
    """Make handoffs of the spans that are implicit handoffs.

    Args:
        tops: Spans with no handoff above, and none that may be one. They and those below them are looked through.
    """
    ahead: list[tuple[Node, Node | None]] = [(top, None) for top in tops]
    while ahead:
        node, topmost = ahead.pop()
        if not node.holds & RETRIEVAL:
            continue
        if topmost is None and (node.says_handoff or node.may_be_handoff):
            topmost = node
        if topmost is not None:
            if topmost.implied or topmost.holds & HANDOFF:
                continue
            reading = node.read()
            if reading is not None and reading.is_homeless:
                topmost.implied = True
                continue
        ahead.extend((each, topmost) for each in list(node.below))


def is_topmost(node: Node) -> bool:
    """Return whether a span may be a handoff that does not say so, and no handoff, nor one that may be, is above."""
    return (
        node.may_be_handoff
        and node.nearest_handoff() is None
        and not any(above.may_be_handoff for above in node.ancestors())
    )
