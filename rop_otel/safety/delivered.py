"""Recognises exceptions that the interpreter delivered into our code and that are meant for the application.

A job queue ends a task with an exception that a signal handler raises, or that another thread sets. It can come at any
instruction, also in our code. If we swallowed it, the task would run for ever. So we swallow what our own code raised,
and what the application's objects raised when we read them, but never a delivered exception.

Where it came from is read from the traceback. The interpreter delivers at the beginning of a function, at a jump back
and after a call, and C code that waits does so in the middle of a call. Nothing else raises at the first two. In a call
a signal handler is known by its arguments, or by being registered; what another thread set is known only by being an
exception that was made of nothing but its class, and that is none of the standard library's.
"""

from __future__ import annotations

import dis
import signal
import sys
from collections.abc import Callable
from functools import partial
from inspect import CO_VARARGS
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, cast

_RESUME: Final = dis.opmap["RESUME"]
_AFTER_WHAT: Final = 3
"""The bits of a RESUME's argument that say what it comes after: 0 for the beginning, else a yield or an await."""
_BETWEEN: Final = frozenset(
    number
    for name, number in dis.opmap.items()
    if "JUMP_BACKWARD" in name and not name.endswith(("NO_INTERRUPT", "_TRUE", "_FALSE"))
) | {_RESUME}
"""Beginnings and jumps back, which raise nothing by themselves."""
_CALLS: Final = frozenset(
    number
    for name, number in dis.opmap.items()
    if name.startswith(("CALL", "PRECALL")) or name.endswith(("JUMP_BACKWARD_IF_TRUE", "JUMP_BACKWARD_IF_FALSE"))
) | {_RESUME}
"""Instructions where both is possible: a call, the truth of an object, an exception that is thrown into a generator."""
_MADE_UP: Final = 6
"""Bytes of the code that a frame of a C extension has in a traceback, whose last instruction is this one."""
_RAISE: Final = dis.opmap["RAISE_VARARGS"]
_READ: Final = frozenset({"__getattr__", "__getattribute__", "__getitem__", "__get__"})
"""Methods that raise whenever something is read in vain. No handler is looked for in them: that takes time."""
_MOST_GIVEN: Final = 8
"""Arguments that a handler is given at most, where something wraps it."""
_getsignal: Final = getattr(sys.modules["_signal"], "getsignal")  # noqa: B009 - private, and twenty times as fast
_SIGNALS: Final = frozenset(map(int, signal.valid_signals()))
_COMMON: Final = tuple(each for each in sorted(_SIGNALS) if each < getattr(signal, "SIGRTMIN", 65))
"""Those that have names: looking for the handlers of all takes time."""
_DEFAULTS: Final = frozenset({int, type(None)})
_PLAIN: Final = frozenset({Exception, RuntimeError, TimeoutError})
"""Classes of the standard library that no C code raises without arguments."""
_DEEPEST: Final = 8
"""How long a chain of exceptions, each made of the one before, may be."""


def raise_if_delivered(error: BaseException) -> None:
    """Raise an exception again that was delivered from outside; for the first line of every broad ``except``.

    Args:
        error: The exception that is being handled.
    """
    if is_delivered(error):
        raise error


class suppress_own:  # noqa: N801 - used like a function
    """A ``with`` block that swallows exceptions of these classes, unless they were delivered.

    Args:
        kinds: The classes.
    """

    __slots__ = ("_kinds",)

    def __init__(self, *kinds: type[Exception]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return kind is not None and issubclass(kind, self._kinds) and error is not None and not is_delivered(error)


def insist(do: Callable[[], object]) -> None:
    """Do something, and once more where it is interrupted, before the exception goes on.

    Args:
        do: Ends something; a second call does what is left.
    """
    try:
        do()
    except BaseException:
        do()
        raise


def is_delivered(error: BaseException, *, deepest: int = _DEEPEST) -> bool:
    """Return whether an exception comes from a signal handler or another thread, as far as its traceback shows.

    This is also true if the application's code made it of such an exception while we read its objects, and for a group
    that holds one.

    Args:
        error: An exception that came up below the frame that asks.
        deepest: How long the chain of exceptions may be.
    """
    trace = error.__traceback__
    operation: int | None = None
    frame: FrameType | None = None
    met: list[FrameType] = []
    takes_two: list[CodeType] = []
    while trace is not None:
        caller, frame = frame, trace.tb_frame
        code = frame.f_code
        if caller is not None:
            back = frame.f_back
            if back is not caller and back is not None and back not in met:
                operation = None  # from here on it is of an earlier time: it was kept, and is raised again
                break
            if (code.co_argcount > 1 or code.co_flags & CO_VARARGS) and code.co_name not in _READ:
                if _is_handler(frame, code):
                    return True
                takes_two.append(code)
        steps, place = code.co_code, trace.tb_lasti
        operation = steps[place]
        if operation in _BETWEEN and (operation != _RESUME or _is_beginning(steps, place)):
            return True
        met.append(frame)
        trace = trace.tb_next
    if operation is not None and operation != _RAISE and issubclass(type(error), KeyboardInterrupt):
        return True  # Python's own handler of SIGINT has no frame
    if takes_two and not _registered().isdisjoint(takes_two):
        return True
    if operation in _CALLS and not _is_made_up(steps) and _is_made_of_nothing(error):
        return True
    if error.__context__ is None and error.__cause__ is None and not issubclass(type(error), BaseExceptionGroup):
        return False
    return _is_made_of_delivered(error, met, deepest)


def _is_beginning(steps: bytes, place: int) -> bool:
    """Return whether a RESUME is that of a function's beginning, and the function one of Python code."""
    return not steps[place + 1] & _AFTER_WHAT and not _is_made_up(steps)


def _is_made_up(steps: bytes) -> bool:
    """Return whether code is what C extensions fill tracebacks with, where it stands at any instruction."""
    return len(steps) <= _MADE_UP and steps[-2] == _RAISE


def _is_handler(frame: FrameType, code: CodeType) -> bool:
    """Return whether a frame is a signal handler's: it is called with a signal's number and the frame below it."""
    values, names = frame.f_locals, code.co_varnames
    given = [values.get(name) for name in names[: code.co_argcount]]
    if code.co_flags & CO_VARARGS:
        given.append(values.get(names[code.co_argcount + code.co_kwonlyargcount]))
    for each in tuple(given):
        if type(each) is tuple and len(each) <= _MOST_GIVEN:
            given += each
    back = frame.f_back
    return any(each is back for each in given) and any(type(each) is int and each in _SIGNALS for each in given)


def _registered() -> set[CodeType | None]:
    """Return the code of the handlers that are registered now: one may have let go of its arguments."""
    handlers = [handler for handler in map(_getsignal, _COMMON) if type(handler) not in _DEFAULTS]
    return set(map(_code_of, handlers))


def _code_of(handler: Any) -> CodeType | None:
    while issubclass(type(handler), partial):
        handler = handler.func
    for each in (handler, getattr(type(handler), "__call__", None)):  # noqa: B004 - its code is wanted
        code = getattr(getattr(each, "__func__", each), "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def _is_made_of_nothing(error: BaseException) -> bool:
    """Return whether an exception is what its class alone gives, which is all that another thread can name."""
    kind = type(error)
    try:
        if kind in _PLAIN:
            return not error.args
        if kind.__module__.partition(".")[0] in sys.stdlib_module_names:
            return False
        return kind().args == error.args
    except Exception as other:  # noqa: BLE001 - its class has code of its own, or cannot be called
        raise_if_delivered(other)
        return False


def _is_made_of_delivered(error: BaseException, met: list[FrameType], deepest: int) -> bool:
    """Return whether an exception was raised in place of a delivered one, or holds one."""
    if issubclass(type(error), BaseExceptionGroup) and any(
        is_delivered(each, deepest=0) for each in cast("BaseExceptionGroup", error).exceptions
    ):
        return True
    return deepest > 0 and any(
        each is not None and _came_up_below(each, met) and is_delivered(each, deepest=deepest - 1)
        for each in (error.__cause__, error.__context__)
    )


def _came_up_below(error: BaseException, met: list[FrameType]) -> bool:
    """Return whether an exception came up in or below the frames of another: not around the frame that asks."""
    trace = error.__traceback__
    return trace is not None and (trace.tb_frame in met[1:] or trace.tb_frame.f_back in met)
