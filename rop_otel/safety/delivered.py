"""Exceptions that the interpreter delivered into our code for somebody else.

A job queue ends a task by an exception that a signal handler raises, or that another thread sets. It comes up at any
instruction, also in ours, and whoever swallows it lets the task run for ever. What our own code raised, and what the
application's objects raised when we read them, is swallowed; what was delivered goes on.
"""

from __future__ import annotations

import dis
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Final

_BETWEEN: Final = frozenset({"RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE"})
"""Instructions that raise nothing by themselves, and before which the interpreter delivers."""
_CALLS: Final = "CALL"
"""How instructions begin that may raise by themselves, and after which the interpreter delivers."""
_RAISE: Final = dis.opmap["RAISE_VARARGS"]
_SIGNALS: Final = frozenset(map(int, signal.valid_signals()))


def raise_if_delivered(error: BaseException) -> None:
    """Raise an exception again that was delivered from outside; for the first line of every broad ``except``.

    Args:
        error: The exception that is being handled.
    """
    if is_delivered(error):
        raise error


def is_delivered(error: BaseException) -> bool:
    """Return whether an exception comes from a signal handler or another thread, as far as its traceback shows."""
    if isinstance(error, KeyboardInterrupt) and not _is_raised(error):
        return True
    frames = list(_entries(error.__traceback__))
    if any(_is_handler(entry.tb_frame) for entry in frames[1:]):
        return True
    return bool(frames) and _is_set_by_thread(error, frames[-1])


def _is_raised(error: BaseException) -> bool:
    """Return whether a ``raise`` raised an exception: Python's own handler of SIGINT does without, and has no frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_handler(frame: FrameType) -> bool:
    """Return whether a frame is a signal handler's: it is called with a signal's number and the frame below it."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_posonlyargcount + 1]
    given: list[object] = []
    for name in names:
        value = frame.f_locals.get(name)
        given += value if type(value) is tuple else [value]
    return any(each is frame.f_back for each in given) and any(type(each) is int and each in _SIGNALS for each in given)


def _is_set_by_thread(error: BaseException, last: TracebackType) -> bool:
    """Return whether an exception came up where nothing raises, or after a call and with nothing to say.

    Another thread can only name its class (``PyThreadState_SetAsyncExc``), so it has no arguments.
    """
    if error.args:
        return False
    operation = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]]
    if operation in _BETWEEN:
        return True
    named = type(error).__module__ != "builtins" or isinstance(error, TimeoutError)
    return named and operation.startswith(_CALLS)
