"""Carrying the current handoff into threads and executors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from opentelemetry.context import attach, get_current

P = ParamSpec("P")
R = TypeVar("R")


def carry_context(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that runs in the context of this moment, wherever it is called.

    For ``executor.submit``, ``executor.map``, ``threading.Thread`` and ``loop.run_in_executor``, which start their
    work in a context of its own. Calls may overlap.

    Args:
        function: A function, not a coroutine function: tasks carry the context themselves.
    """
    carried = get_current()

    @functools.wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        before = get_current()
        attach(carried)
        try:
            return function(*args, **kwargs)
        finally:
            attach(before)

    return inside
