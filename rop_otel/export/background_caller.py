"""Calls functions that may ignore their own timeout, in daemon threads, and waits only a limited time for them."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Final

_AT_ONCE: Final = 3
"""One for each signal, so that a collector that does not answer for one keeps no time from the others."""

_Job = tuple[Callable[[], object], Event]


class BackgroundCaller:
    """Runs calls in daemon threads.

    The threads are started with the object: at interpreter exit a new one can no longer be started (Python 3.12).
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._late: list[tuple[list[Event], float]] = []
        for _ in range(_AT_ONCE):
            Thread(target=self._work, name="rop_otel.background", daemon=True).start()

    def call(self, *calls: Callable[[], object], timeout: float) -> bool:
        """Call them all at once, and wait for at most this many seconds.

        Returns:
            Whether the calls came back in time. What they returned or raised is ignored.
        """
        began = monotonic()
        done = [Event() for _ in calls]
        for job in zip(calls, done, strict=True):
            self._jobs.put(job)
        for each in done:
            each.wait(max(began + timeout - monotonic(), 0.0))
        in_time = all(each.is_set() for each in done)
        if not in_time:
            self._late.append((done, monotonic() - began))
        return in_time

    def waited(self) -> float:
        """Return how many seconds were waited for calls that still have not come back."""
        return sum(seconds for done, seconds in self._late if not all(each.is_set() for each in done))

    def _work(self) -> None:
        while True:
            do, done = self._jobs.get()
            try:
                do()
            except Exception:  # noqa: BLE001 - an exporter that fails logs that itself
                pass
            finally:
                done.set()
