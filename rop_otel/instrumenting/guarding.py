"""The one guard of the instrumentation packages: what goes wrong in their own code never reaches the application."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from rop_otel.instrumenting.notices import failure
from rop_otel.safety import raise_if_delivered

P = ParamSpec("P")
R = TypeVar("R")


class guarded:  # noqa: N801 - used like a function
    """A ``with`` block in which exceptions of our own code end: each is counted, and logged once.

    What a signal handler or another thread raises for the application goes on.

    Args:
        place: Where it is, with the framework's name.
        message: What becomes of it, in one sentence.
    """

    __slots__ = ("_message", "_place")

    def __init__(self, place: str, message: str = "it could not be watched") -> None:
        self._place, self._message = place, message

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        raise_if_delivered(error)
        failure(self._place, self._message)
        return True


def never_raising_in(framework: str) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """Return what makes a function return None where it would raise, since the application goes on.

    Args:
        framework: Its name.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R | None]:
        @functools.wraps(function)
        def quiet(*args: P.args, **kwargs: P.kwargs) -> R | None:
            with guarded(f"{framework}, {function.__qualname__}"):
                return function(*args, **kwargs)
            return None

        return quiet

    return decorate
