"""Where in which handoff the application is now, kept in the OpenTelemetry context and so carried with it.

A context is put back by attaching the one before it, never by its token: a token used in another task or thread (a
generator that the garbage collector closes) is an error that OpenTelemetry logs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from opentelemetry.context import Context, attach, create_key, get_current, set_value
from opentelemetry.trace import Span, set_span_in_context

if TYPE_CHECKING:
    from rop_otel.tracing.handoff import Handoff
    from rop_otel.tracing.stage import Stage

P = ParamSpec("P")
R = TypeVar("R")

_KEY: Final = create_key("rop_otel")


class Here:
    """A place in a handoff.

    Args:
        handoff: The innermost open handoff, None outside of any.
        stage: The innermost running stage of that handoff.
        round: The round under way.
    """

    __slots__ = ("handoff", "round", "stage")

    def __init__(
        self,
        handoff: Handoff | None = None,
        stage: Stage | None = None,
        round: int | None = None,  # noqa: A002 - the contract's word
    ) -> None:
        self.handoff = handoff
        self.stage = stage
        self.round = round


_NOWHERE: Final = Here()


def here(context: Context | None = None) -> Here:
    """Return the place that a context, None for the current one, is at."""
    found = (get_current() if context is None else context).get(_KEY)
    return found if isinstance(found, Here) else _NOWHERE


def moved(context: Context, place: Here, span: Span | None = None) -> Context:
    """Return a context that is at another place, with another current span if one is given."""
    if span is None:
        return set_value(_KEY, place, context)
    placed = set_span_in_context(span, context)
    dict.__setitem__(placed, _KEY, place)  # nobody else has this new context yet, and a second copy costs as much again
    return placed


def put_back(context: Context, before: Context) -> bool:
    """Make the context before this one current again, unless another place is current by now.

    Returns:
        Whether it was done. What the application attached to the context of this place, and left there, is no other
        place: an application that forgets to detach would never leave its handoff.
    """
    current = get_current()
    if current is not context and here(current) is not here(context):
        return False
    attach(before)
    return True


class using_context:  # noqa: N801 - used like a function
    """A ``with`` block in another context; after it the one before is current again.

    A coroutine that is given up inside of the block is closed elsewhere, and what is current there stays.

    Args:
        context: The context.
    """

    __slots__ = ("_around", "_before", "_context")

    def __init__(self, context: Context) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._around: using_context | None = _within.get()
        self._before = get_current()
        _within.set(self)
        attach(self._context)

    def __exit__(self, *_: object) -> None:
        block = _within.get()
        while block is not None and block is not self:
            block = block._around
        if block is self:
            _within.set(self._around)
            attach(self._before)
        self._around = None  # tasks that began inside may go on, and begin others


_within: Final[ContextVar[using_context | None]] = ContextVar("rop_otel_within", default=None)
"""The innermost block of :class:`using_context`."""


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
        with using_context(carried):
            return function(*args, **kwargs)

    return inside
