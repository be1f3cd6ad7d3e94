"""Signal handlers of every kind, all of which raise."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial, wraps
from typing import Any


class JobTimeoutError(Exception):
    """What a job queue raises in a task that takes too long."""


def plain(signum: int, frame: Any) -> None:
    raise JobTimeoutError


def star(*_: Any) -> None:
    raise JobTimeoutError


def keyword_only(*given: Any, why: str = "late") -> None:
    raise JobTimeoutError(why)


def by_another(signum: int, frame: Any) -> None:
    partial(_raise, "by another function")()


def forgetful(signum: Any, frame: Any) -> None:
    while frame.f_back is not None:
        frame = frame.f_back
    raise JobTimeoutError


def fully_forgetful(signum: Any, frame: Any) -> None:
    signum = signal.SIG_DFL
    del frame
    raise JobTimeoutError(signum)


def once(signum: Any, frame: Any) -> None:
    signal.signal(signum, signal.SIG_IGN)
    raise JobTimeoutError


def builtin_class(signum: Any, frame: Any) -> None:
    raise TimeoutError("too long")


def instead(signum: Any, frame: Any) -> None:
    try:
        int("x")
    except ValueError:
        raise JobTimeoutError from None


def in_a_group(signum: Any, frame: Any) -> None:
    raise ExceptionGroup("several", [ValueError(1), JobTimeoutError()])


def needs(extra: str, signum: Any, frame: Any) -> None:
    raise JobTimeoutError(extra)


class Penalty:
    """The shape of the death penalties of job queues."""

    def handle(self, signum: int, frame: Any) -> None:
        raise JobTimeoutError("task exceeded its maximum time")

    def __call__(self, signum: int, frame: Any) -> None:
        raise JobTimeoutError("called")

    @staticmethod
    def static(signum: int, frame: Any) -> None:
        raise JobTimeoutError

    @classmethod
    def of_class(cls, signum: int, frame: Any) -> None:
        raise JobTimeoutError


class Raising:
    """A class that is the handler itself."""

    def __init__(self, signum: int, frame: Any) -> None:
        raise JobTimeoutError


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def around(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return around


def _raise(message: str) -> str:
    raise JobTimeoutError(message)


HANDLERS: dict[str, Callable[..., Any]] = {
    "function": plain,
    "star": star,
    "keyword only": keyword_only,
    "lambda": lambda signum, frame: _raise("by a lambda"),
    "lambda star": lambda *_: _raise("by a lambda"),
    "generator expression": lambda signum, frame: next(_raise("deep") for _ in "a"),
    "calls another": by_another,
    "walks the frames": forgetful,
    "lets go of both": fully_forgetful,
    "puts itself away": once,
    "TimeoutError": builtin_class,
    "instead of another": instead,
    "group": in_a_group,
    "method": Penalty().handle,
    "callable object": Penalty(),
    "static method": Penalty.static,
    "class method": Penalty.of_class,
    "class": Raising,
    "partial": partial(needs, "extra"),
    "partial method": partial(Penalty().handle),
    "wrapped": wrapped(plain),
    "wrapped partial": wrapped(partial(needs, "extra")),
}
