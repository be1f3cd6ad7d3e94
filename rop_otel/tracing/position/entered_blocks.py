"""The blocks of one handoff that are entered now, in any thread."""

from __future__ import annotations

from opentelemetry.context import Context

from rop_otel.tracing.position.context_position import HandoffPlace, current_position, leave, make_current, put_back


class EnteredBlocks:
    """What each block made current, and what was before it."""

    __slots__ = ("_entered",)

    def __init__(self) -> None:
        self._entered: list[tuple[Context, Context]] = []

    def enter(self, context: Context, before: Context) -> None:
        """Make the context of a block current."""
        self._entered.append((context, before))
        make_current(context)

    def leave(self, handoff: HandoffPlace, *, last: bool) -> None:
        """Make the context before the caller's block current again.

        Several threads may be in blocks of the handoff. If no block is the caller's, it is closed in another thread.

        Args:
            handoff: Whose blocks they are.
            last: Whether the block ends the handoff, and so all of its blocks.
        """
        current = current_position()
        for place in range(len(self._entered) - 1, -1, -1):
            if current_position(self._entered[place][0]) is current:
                try:
                    put_back(*self._entered[place])
                except BaseException:  # delivered at its beginning
                    leave(*self._entered[place])
                    raise
                finally:
                    del self._entered[place]
                return
        if last or len(self._entered) == 1:
            if current.handoff is handoff and self._entered:  # a block in it was interrupted before it was left
                make_current(self._entered[0][1])
            self.leave_all()

    def leave_all(self) -> None:
        """Mark the place of every block as left."""
        for entered in self._entered:
            leave(*entered)
        self._entered.clear()
