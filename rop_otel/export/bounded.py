"""A wait that ends: calls that ignore their own timeout, run in a thread that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

_Job = tuple[Callable[[], object], Event]


class Caller:
    """Runs calls in a daemon thread, one after another.

    The thread is started with the object: at interpreter exit a new one can no longer be started (Python 3.12).
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        Thread(target=self._work, name="rop_otel.bounded", daemon=True).start()

    def call(self, do: Callable[[], object], *, timeout: float) -> bool:
        """Call, and wait for at most this many seconds.

        Returns:
            Whether the call came back in time; what it returned or raised is of no interest.
        """
        done = Event()
        self._jobs.put((do, done))
        return done.wait(timeout)

    def _work(self) -> None:
        while True:
            do, done = self._jobs.get()
            try:
                do()
            except Exception:  # noqa: BLE001 - an exporter that fails logs that itself
                pass
            finally:
                done.set()
