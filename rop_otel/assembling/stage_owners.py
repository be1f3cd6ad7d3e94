"""Which handoff each stage belongs to, and which stage of the same handoff encloses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rop_otel.assembling.span_facts import Reading
from rop_otel.assembling.span_tree import ByName, Node, Owner, owner_of
from rop_otel.core.handoff import StageRecord


class OwnedStage(NamedTuple):
    """A stage and where it belongs.

    Args:
        node: Its span.
        reading: The facts of the span.
        owner: The handoff that it belongs to, None where there is none.
        parent_id: Span ID of the nearest enclosing stage of the same handoff.
    """

    node: Node
    reading: Reading
    owner: Owner | None
    parent_id: str | None

    def record(self) -> StageRecord | None:
        """Return its facts; one that is still open has no end."""
        return self.reading.stage_record(parent_id=self.parent_id, ended=self.node.ended)


class _Left(NamedTuple):
    """The walk leaves a stage: the stage that enclosed it encloses the next stages of its handoff again."""

    owner: Owner
    before: str | None


def owned_stages(top: Node, by_name: ByName) -> Iterator[OwnedStage]:
    """Yield the stages at a span and below it, an enclosing one first.

    Args:
        top: The span.
        by_name: Finds a handoff by the ID that a stage names.
    """
    around: dict[Owner, str | None] = {}  # of each handoff the innermost stage, on the way from the top to here
    ahead: list[tuple[Node, Owner | None] | _Left]
    ahead = [(top, top.within if top.above is None else top.above.nearest_handoff())]
    while ahead:
        step = ahead.pop()
        if isinstance(step, _Left):
            around[step.owner] = step.before
            continue
        node, nearest = step
        if node.is_handoff:
            nearest = node
        reading = node.read()
        if reading is not None and reading.is_stage:
            owner = owner_of(reading, nearest, by_name)
            if owner is None:
                yield OwnedStage(node, reading, None, None)
            else:
                before = around[owner] if owner in around else top.stage_above(owner.handoff_id)
                yield OwnedStage(node, reading, owner, before)
                around[owner] = reading.span_id
                ahead.append(_Left(owner, before))
        ahead.extend((each, nearest) for each in list(node.below))
