"""Exceptions that a signal handler raises at random moments, and how many of them arrive where a task is run."""

from __future__ import annotations

import gc
import random
import signal
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from tests.safety.handlers import JobTimeoutError

_STANDARD = sysconfig.get_path("stdlib")
_BELOW = ("opentelemetry", "wrapt")
_AGAIN = 20.0
"""Seconds after which the timer goes off again, so that what waits for ever is interrupted and seen in the counts."""


class Count(NamedTuple):
    """How many were raised, and how many of them arrived; of both those that came up in code of ours.

    Code of ours is also what that calls of the standard library and of OpenTelemetry.
    """

    raised: int
    arrived: int
    raised_in_ours: int
    arrived_from_ours: int

    def check_ours(self) -> None:
        """Check that what came up in code of ours arrived.

        What comes up there below a finalizer of a framework's is lost with that: one in hundreds.
        """
        assert self.raised_in_ours - self.arrived_from_ours <= self.raised_in_ours // 50
        assert self.arrived_from_ours > 0


class Alarms:
    """A timer whose handler raises, as that of a job queue does."""

    def __init__(self) -> None:
        self._raised: list[bool] = []
        """For each, whether it came up in code of ours."""

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self._raised.append(_is_ours(frame))
        raise JobTimeoutError

    def count(self, task: Callable[[], object], *, rounds: int, longest: float) -> Count:
        """Run a task again and again until it is interrupted, so many times.

        Args:
            task: What is interrupted. What a framework makes of the exception has arrived, too.
            rounds: How often.
            longest: Seconds until then, at most.
        """
        self._raised.clear()
        arrived: list[bool] = []
        moments = random.Random(rounds)
        for _ in range(rounds):
            before = len(self._raised)
            try:
                signal.setitimer(signal.ITIMER_REAL, moments.random() * longest + 1e-5, _AGAIN)
                self._run(task, before)
            except Exception:
                if len(self._raised) == before:
                    raise
                arrived.append(self._raised[-1])
        signal.setitimer(signal.ITIMER_REAL, 0)
        return Count(len(self._raised), len(arrived), sum(self._raised), sum(arrived))

    def _run(self, task: Callable[[], object], before: int) -> None:
        # Not within a try: Python 3.13 does not catch what comes up in the jump back.
        while len(self._raised) == before:
            task()


@contextmanager
def collecting_alone() -> Iterator[None]:
    """Do without what Hypothesis does while garbage is collected: an exception that comes up in that is lost."""
    times = [each for each in gc.callbacks if str(getattr(each, "__module__", "")).startswith("hypothesis")]
    for each in times:
        gc.callbacks.remove(each)
    try:
        yield
    finally:
        gc.callbacks.extend(times)


@contextmanager
def alarms() -> Iterator[Alarms]:
    """Be the handler of the timer for a while."""
    handler = Alarms()
    with collecting_alone():
        before = signal.signal(signal.SIGALRM, handler)
        try:
            yield handler
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _is_ours(frame: Any) -> bool:
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("rop_otel"):
            return True
        if not (name.startswith(_BELOW) or frame.f_code.co_filename.startswith((_STANDARD, "<"))):
            return False
        if "site-packages" in frame.f_code.co_filename and not name.startswith(_BELOW):
            return False
        frame = frame.f_back
    return False
