"""The runs that are open in this process, and which of them a handoff belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from opentelemetry.context import Context, create_key, set_value

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.run_status import Standing
from rop_otel.safety import create_lock, in_child
from rop_otel.tracing.position.context_position import current_context, in_block

_KEY: Final = create_key("rop_otel run")
_MOST: Final = 16
"""Runs whose numbers are kept, the newest."""


class LiveRun(Protocol):
    """A run that handoffs of this process may belong to. Its methods may be called in any thread."""

    @property
    def id(self) -> str:
        """Its ID."""

    @property
    def declaration(self) -> Opened | None:
        """The resolver with which its handoffs are assessed; None: each handoff has its own."""

    def join(self, record: HandoffRecord) -> HandoffRecord:
        """Return the record of a handoff that is being opened; terms that it does not give are those of the run."""

    def started(self) -> None:
        """Count a handoff that has started."""

    def observed(self, record: HandoffRecord, assessment: Assessment) -> None:
        """Count a handoff that has been assessed."""

    def standing(self) -> Standing:
        """Return its counts and status now."""

    def abandon(self) -> None:
        """Let go of everything that belongs to the process that this one was forked from."""


class Runs:
    """The runs of a process.

    Args:
        most: How many of them keep their numbers; the newest do.

    Attributes:
        open: By ID those that handoffs may join. Replaced and never changed, so that it is read without a lock.
    """

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = create_lock()
        self.open: Mapping[str, LiveRun] = {}
        self._kept: dict[str, LiveRun | Standing] = {}

    def forget(self) -> None:
        """Start over without any run, as a forked process has to: its runs belong to the process that opened them."""
        known = {**self.open, **self._kept}
        self.open, self._kept = {}, {}
        for run in known.values():
            if not isinstance(run, Standing):
                run.abandon()

    def add(self, run: LiveRun) -> None:
        """Let handoffs join a run; one with the same ID gives way to it."""
        with self._lock:
            self._change(lambda runs: {**runs, run.id: run})
            self._kept.pop(run.id, None)
            self._kept[run.id] = run
            for run_id in list(self._kept)[: -self._most]:
                self._kept.pop(run_id, None)

    def remove(self, run: LiveRun, standing: Standing) -> None:
        """Let no handoff join a run any more; of the run nothing is kept but how it stood."""
        with self._lock:
            if self._kept.get(run.id) is run:
                self._kept[run.id] = standing
            self._change(lambda runs: {run_id: other for run_id, other in runs.items() if other is not run})

    def _change(self, change: Callable[[Mapping[str, LiveRun]], Mapping[str, LiveRun]]) -> None:
        """Replace the open runs, again where a signal handler has opened or closed one meanwhile."""
        while True:
            before = self.open
            after = change(before)
            if self.open is before:
                self.open = after
                return

    def of(self, run_id: str | None) -> LiveRun | None:
        """Return the open run with an ID; without one, the run whose block the caller is in."""
        if run_id is not None:
            return self.open.get(run_id)
        found = current_context().get(_KEY)
        return next((run for run in self.open.values() if run is found), None)

    def standings(self) -> list[Standing]:
        """Return how each run stands, the newest last, those that have ended included."""
        with self._lock:
            kept = list(self._kept.values())
        return [run if isinstance(run, Standing) else run.standing() for run in kept]


def inside(run: LiveRun, context: Context) -> Context:
    """Return a context, of a block of its own, in which handoffs belong to a run."""
    return in_block(set_value(_KEY, run, context))


RUNS: Final = Runs()
"""Those of this process."""

in_child(RUNS.forget)
