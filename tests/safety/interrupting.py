"""What runs in the middle of something else, where a signal handler or a finalizer could.

The interpreter lets handlers in where a function begins and behind each call. ``sys.setprofile`` reports these places.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType
from typing import Any

SECONDS = 60
"""How long a thread may take before it counts as one that waits for itself."""


class Interruption:
    """Runs something at one place of what runs in the packages of this project.

    Args:
        place: At which of the places, from 1.
        nested: What to run there.
    """

    def __init__(self, place: int, nested: Callable[[], object]) -> None:
        self._left = place
        self._nested = nested

    @property
    def happened(self) -> bool:
        """Whether there were as many places."""
        return self._left <= 0

    def during(self, work: Callable[[], object]) -> None:
        """Do the work, interrupted."""
        sys.setprofile(self._look)
        try:
            work()
        finally:
            sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "c_call" or not str(frame.f_globals.get("__name__")).startswith("rop_otel"):
            return
        self._left -= 1
        if self._left == 0:
            self._nested()


def places(*, every: int = 1) -> Iterator[int]:
    """Give numbers of places without an end, some of them where there are many."""
    return count(1, every)


def in_time(work: Callable[[], object]) -> None:
    """Do the work in a thread, and fail where it does not come to its end."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if errors:
        raise errors[0]
    assert not thread.is_alive(), "it waits for itself"
