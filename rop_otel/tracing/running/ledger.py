"""The ledger of open handoffs, with the stages of each so far, bounded in number and in time.

Signal handlers and finalizers may run at any instruction, also while this thread holds a lock, and they may be
monitored code. So a thread can take a lock that it already holds, and no loop runs over a collection that such code may
change.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Protocol

from rop_otel.core.handoff import Notice, StageRecord, kinds
from rop_otel.safety import catch_up, create_lock


class Running(Protocol):
    """A stage that has begun, and that its handoff has not been given yet."""

    def unfinished(self) -> StageRecord:
        """Return what is known of the stage now; one that has not ended has no end."""


class Around(Protocol):
    """A span of others with a stage of ours below it."""

    def stage_at_or_above(self, handoff_id: str) -> str | None:
        """Return the span ID of the nearest stage of a handoff at or above this span, None where there is none."""


class OpenHandoff:
    """The stages of one open handoff. Stages of any thread may come in at any time.

    Args:
        handoff_id: Its ID.
        deadline: Time of the ledger's clock at which it counts as abandoned.

    Attributes:
        is_closed: Whether it takes in no more.
    """

    __slots__ = (
        "_around",
        "_ended",
        "_lock",
        "_looked",
        "_returned",
        "_running",
        "deadline",
        "handoff_id",
        "is_closed",
    )

    def __init__(self, handoff_id: str, deadline: float) -> None:
        self.handoff_id = handoff_id
        self.deadline = deadline
        self._ended: list[StageRecord] = []
        self._running: dict[int, Running] = {}
        self._around: dict[str, Around] = {}
        self._returned: set[str] = set()
        self._looked = 0
        self._lock = create_lock()
        self.is_closed = False

    def began(self, stage: Running) -> None:
        """Note a stage that has begun, so that it is known to be late should the handoff end first."""
        self._running[id(stage)] = stage

    def ended(self, record: StageRecord, stage: Running | None = None) -> bool:
        """Take in a stage that has ended.

        Args:
            record: Its facts.
            stage: The argument of :meth:`began`, if that was called.

        Returns:
            False where the handoff had ended already: the stage is late.
        """
        with self._lock:
            if self.is_closed:
                return False
            if stage is not None:
                self._running.pop(id(stage), None)  # first: where this is interrupted, no stage counts twice
            self._ended.append(record)
            return True

    def returned_any(self, ids: AbstractSet[str]) -> bool:
        """Return whether a stage that has ended returned one of these. Each list is looked at once."""
        while (place := self._looked) < len(self._ended):
            self._returned.update(self._ended[place].returned or ())
            self._looked = place + 1
        return not ids.isdisjoint(self._returned)

    def lost(self, stage: Running) -> None:
        """Forget a stage whose end was interrupted: it would keep its handoff from being given up."""
        self._running.pop(id(stage), None)

    def runs_within(self, span_id: str, around: Around) -> None:
        """Note that a stage of ours is below a span of others, whose end may show that it is a stage or handoff."""
        self._around[span_id] = around

    def shows(self) -> bool:
        """Return whether a stage has ended that shows something to a reader."""
        return any(stage.kind in kinds.SHOWING for stage in tuple(self._ended))

    def close(self) -> tuple[StageRecord, ...]:
        """Accept no more stages, and return every stage, the running ones without an end."""
        with self._lock:
            self.is_closed = True
            running = list(self._running.values())
            self._running.clear()
        stages = (*self._ended, *(stage.unfinished() for stage in running))
        return stages if not self._around else tuple(map(self._placed, stages))

    def _placed(self, record: StageRecord) -> StageRecord:
        around = self._around.get(record.span_id)
        above = None if around is None else around.stage_at_or_above(self.handoff_id)
        return record if above is None else replace(record, parent_id=above)


class Ledger:
    """Every open handoff of this process.

    Args:
        max_open: How many may be open at one time; further ones are rejected.
        ttl_seconds: After this time an open handoff is dropped, at the next look; there is no background thread.
        notify: Called for each handoff that is rejected or expires.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        *,
        max_open: int,
        ttl_seconds: float,
        notify: Callable[[Notice], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_open = max_open
        self._ttl = ttl_seconds
        self._notify = notify
        self._clock = clock
        self._open: dict[str, OpenHandoff] = {}  # in the order of opening, which is that of the deadlines
        self._lock = create_lock()

    def open(self, handoff_id: str) -> OpenHandoff | None:
        """Open a handoff; None where too many are open, or one with this ID already is."""
        self._drop_stale()
        opened = OpenHandoff(handoff_id, self._clock() + self._ttl)
        try:
            with self._lock:
                accepted = len(self._open) < self._max_open and handoff_id not in self._open
                if accepted:
                    self._open[handoff_id] = opened
        except BaseException:  # delivered; nobody else knows that it is open
            self.abandon(opened)
            raise
        if accepted:
            return opened
        self._notify(Notice.REJECTED)
        return None

    def find(self, handoff_id: str) -> OpenHandoff | None:
        """Return the open handoff with this ID, None where there is none."""
        return self._open.get(handoff_id)

    def close(self, opened: OpenHandoff) -> tuple[StageRecord, ...] | None:
        """Close a handoff and return its stages; None where its time is over, or it was closed before."""
        if opened.deadline <= self._clock():
            self._drop_stale()
        with self._lock:
            taken = self._take_out(opened)
        return opened.close() if taken else None

    def abandon(self, opened: OpenHandoff) -> None:
        """Drop a handoff that nobody can close any more."""
        with self._lock:
            taken = self._take_out(opened)
        if taken:
            opened.close()
            self._notify(Notice.EXPIRED)

    def open_count(self) -> int:
        """Return how many handoffs are open now."""
        catch_up()
        self._drop_stale()
        return len(self._open)

    def _oldest(self) -> OpenHandoff | None:
        for opened in self._open.values():  # no call in which a signal handler could change the size of what is read
            return opened
        return None

    def _take_out(self, opened: OpenHandoff) -> bool:
        """Take a handoff out, and return whether it was in; a signal handler may do so in the middle."""
        return self._open.get(opened.handoff_id) is opened and self._open.pop(opened.handoff_id, None) is not None

    def _drop_stale(self) -> None:
        dropped: list[OpenHandoff] = []
        with self._lock:
            now = self._clock()
            while (oldest := self._oldest()) is not None and oldest.deadline <= now:
                if self._take_out(oldest):
                    dropped.append(oldest)
        for opened in dropped:
            opened.close()
            self._notify(Notice.EXPIRED)
