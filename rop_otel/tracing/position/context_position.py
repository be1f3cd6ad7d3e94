"""The caller's handoff, stage and round, kept in the OpenTelemetry context and so carried with it.

Only this module makes a context current or sets one of our context variables. While the garbage collector runs, it sets
nothing. The collector may interrupt ``ContextVar.set`` itself, and then CPython 3.11 crashes (cpython#122529). In any
version the interrupted code does not expect that a finalizer changes its context. While the collector runs, anything
that is monitored in a finalizer is kept apart from the interrupted code.

A context is put back by attaching the one before it, never by its token: a token used in another task or thread (a
generator that the garbage collector closes) is an error that OpenTelemetry logs. A place whose block ended where it
could not be put back counts as left from then on.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, Token
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from opentelemetry.context import Context, attach, create_key, get_current, set_value
from opentelemetry.trace import Span, set_span_in_context

from rop_otel.safety import collection, in_child, insist, is_collecting

P = ParamSpec("P")
R = TypeVar("R")
_T = TypeVar("_T")

_key = create_key("rop_otel")
"""Another one in a forked process, so that it is in none of the handoffs that its parent was in."""

_NO_CONTEXT: Final = Context()
_apart: Final = threading.local()
"""What is current for the finalizers of a collection: its ``context``, where ``collection`` is the one that runs."""


class HandoffPlace(Protocol):
    """A handoff, as far as a position in it goes."""

    @property
    def id(self) -> str:
        """Its ID."""


class StagePlace(Protocol):
    """A running stage, as far as a position in it goes."""

    @property
    def span_id(self) -> str:
        """ID of its span, or a minted one."""

    @property
    def _handoff(self) -> object: ...


class Position:
    """A place in a handoff, of one block.

    Args:
        handoff: The innermost open handoff, None outside of any.
        stage: The innermost running stage of that handoff.
        round: The round under way.

    Attributes:
        left: Where the block is over and another context was current then: the context before the block, and what the
            block added to it.
    """

    __slots__ = ("handoff", "left", "round", "stage")

    def __init__(
        self,
        handoff: HandoffPlace | None = None,
        stage: StagePlace | None = None,
        round: int | None = None,  # noqa: A002 - the contract's word
    ) -> None:
        self.handoff = handoff
        self.stage = stage
        self.round = round
        self.left: tuple[Context, dict[str, object]] | None = None


NOWHERE: Final = Position()
"""Outside of any handoff and any stage."""


def current_position(context: Context | None = None) -> Position:
    """Return the place of a context; None: of the current context."""
    found: Any = (current_context() if context is None else context).get(_key)
    place: Position = found or NOWHERE
    return place


def moved(context: Context, place: Position, span: Span | None = None) -> Context:
    """Return a context that is at another place, with another current span if one is given."""
    if span is None:
        return set_value(_key, place, context)
    placed = set_span_in_context(span, context)
    dict.__setitem__(placed, _key, place)  # nobody else has this new context yet, and a second copy costs as much again
    return placed


def _leave_all() -> None:
    global _key
    _key = create_key("rop_otel")


in_child(_leave_all)


def in_block(context: Context) -> Context:
    """Return a context at the same place, of a block of its own, which :func:`put_back` can identify."""
    at = current_position(context)
    return moved(context, Position(at.handoff, at.stage, at.round))


def current_context() -> Context:
    """Return the current context, without the places that were left."""
    during = collection()
    context = get_current() if during is None else _current_during(during)
    while (left := current_position(context).left) is not None:
        context = _without(context, *left)
    return context


def make_current(context: Context) -> None:
    """Make a context the current one; while the garbage collector runs, only for what is monitored in finalizers."""
    during = collection()
    if during is None:
        attach(context)
    else:
        _apart.collection, _apart.context = during, context


def enter(context: Context, before: Context) -> None:
    """Make the context of a block current; if that is interrupted, mark its place as left.

    Args:
        context: The block's, with a place of its own.
        before: The one before it.
    """
    try:
        make_current(context)
    except BaseException:  # delivered; the block is never entered, so nothing puts back what was before it
        leave(context, before)
        raise


def put_back(context: Context, before: Context) -> None:
    """Make the context before a block current again; if another context is current, mark the block's place as left.

    A context that the application attached inside the block and forgot to detach has the same place. Otherwise such an
    application would never leave its handoff.

    Args:
        context: The block's, with a place of its own.
        before: The one before it.
    """
    try:
        place = current_position(context)
        if collection() is None and place.left is None and get_current() is context:  # as it nearly always is
            attach(before)
            return
        current = current_context()
        if current is context or current_position(current) is place:
            make_current(before)
        else:
            leave(context, before)
    except BaseException:  # delivered in the middle
        leave(context, before)
        raise


def leave(context: Context, before: Context) -> None:
    """Mark the place of a context as left, wherever it is still current."""
    place = current_position(context)
    if place is not NOWHERE:  # as it is of the process that this one was forked from
        added = {key: value for key, value in context.items() if key != _key and before.get(key) is not value}
        place.left = before, added


def set_variable(variable: ContextVar[_T], value: _T) -> Token[_T] | None:
    """Set a context variable of ours, with None for its default; while the garbage collector runs, do nothing."""
    if is_collecting():
        return None
    before = variable.get()
    try:
        return variable.set(value)
    except BaseException:  # delivered; nobody has the token
        variable.set(before)
        raise


class Variables:
    """Sets context variables of ours for a block, and restores them at its end, also if the block is interrupted."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set: list[tuple[ContextVar[Any], object, Token[Any] | None]] = []

    def set(self, variable: ContextVar[_T], value: _T) -> None:
        """Set a variable; while the garbage collector runs, do nothing."""
        if not is_collecting():
            before = variable.get()
            self._set.append((variable, before, None))  # known before it is set, so that nothing is left set
            self._set[-1] = variable, before, variable.set(value)

    def begin(self, *values: tuple[ContextVar[Any], object]) -> None:
        """Set variables where a block begins: interrupted, it is never entered, and nothing else ends it."""
        try:
            for variable, value in values:
                self.set(variable, value)
        except BaseException:  # delivered
            self.put_back()
            raise

    def put_back(self) -> None:
        """Set each variable to what it was; a coroutine that is given up is closed elsewhere, where nothing was set."""
        try:
            self._put_back()
        except BaseException:  # delivered in the middle: what is left is put back before it goes on
            self._put_back()
            raise

    def _put_back(self) -> None:
        while self._set and not is_collecting():
            variable, before, token = self._set[-1]
            if token is None:
                variable.set(before)
            elif variable.get() is not before:  # else it is put back already
                with suppress(ValueError):
                    variable.reset(token)
            self._set.pop()


def _current_during(during: object) -> Context:
    """Return the context that is current for the finalizers of the running collection."""
    found: Context = _apart.context if getattr(_apart, "collection", None) is during else _NO_CONTEXT
    return found


def _without(context: Context, before: Context, added: dict[str, object]) -> Context:
    """Return a context without the additions of a block; other changes, such as what others attached, are kept."""
    kept = {key: value for key, value in context.items() if key != _key and added.get(key) is not value}
    back = {key: value for key, value in before.items() if key == _key or (key in added and key not in kept)}
    return Context({**kept, **back})


class using_context:  # noqa: N801 - used like a function
    """A ``with`` block in another context; after it the one before is current again.

    If a coroutine is given up inside of the block, it is closed elsewhere, and the context that is current there stays.

    Args:
        context: The context.
    """

    __slots__ = ("_around", "_before", "_context")

    def __init__(self, context: Context) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._around: using_context | None = _within.get()
        self._before = current_context()
        try:
            set_variable(_within, self)
            make_current(self._context)
        except BaseException:  # delivered; the block is never entered
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        insist(self._leave)
        self._around = None  # tasks that began inside may go on, and begin others

    def _leave(self) -> None:
        if self._is_current():
            make_current(self._before)
            set_variable(_within, self._around)

    def _is_current(self) -> bool:
        during = collection()
        if during is not None:
            return _current_during(during) is self._context
        block = _within.get()
        while block is not None and block is not self:
            block = block._around
        return block is self


_within: Final[ContextVar[using_context | None]] = ContextVar("rop_otel_within", default=None)
"""The innermost block of :class:`using_context`."""


def carry_context(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that runs in the context of this moment, wherever it is called.

    For ``executor.submit``, ``executor.map``, ``threading.Thread`` and ``loop.run_in_executor``, which start their
    work in a context of its own. Calls may overlap.

    Args:
        function: A function, not a coroutine function: tasks carry the context themselves.
    """
    carried = current_context()

    @functools.wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with using_context(carried):
            return function(*args, **kwargs)

    return inside
