"""What is done when an object is gone, or after the garbage collector, and never by a finalizer of ours.

A finalizer runs in the middle of anything: of code that holds a lock that is not ours, of ``ContextVar.set``. And an
exception that a signal handler raises in it is lost. So the interpreter itself, in C, notes what is due, and our code
does it when it is next used. What is due is done by whichever thread comes first.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self
from weakref import ref

from rop_otel.safety.collecting import is_collecting
from rop_otel.safety.delivered import raise_if_delivered
from rop_otel.safety.forks import in_child

_logger = logging.getLogger("rop_otel")
_due: Final[deque[Callable[[], object]]] = deque()
_gone: Final[deque[Any]] = deque()
_waiting: Final[dict[int, WhenGone]] = {}
_here: Final = threading.local()


class WhenGone(ref[Any]):
    """Does something once an object is gone, unless it is cancelled before.

    Args:
        thing: The object.
        do: What to do. It must not refer to the object.
    """

    __slots__ = ("_do",)
    _do: Callable[[], object]

    def __new__(cls, thing: object, do: Callable[[], object]) -> Self:  # noqa: D102 - the class says it
        made = ref.__new__(cls, thing, _gone.append)
        made._do = do
        _waiting[id(made)] = made
        return made

    def cancel(self) -> None:
        """Do nothing: the object came to its end in another way. Then forget this, so that nothing is noted either."""
        _waiting.pop(id(self), None)


def afterwards(do: Callable[[], object]) -> None:
    """Do something now; while the garbage collector runs in this thread, note it to be done after that."""
    if is_collecting():
        _due.append(do)
    else:
        do()


def catch_up() -> None:
    """Do what is due. For the beginning of all that the application calls; it costs nothing where nothing is due."""
    if (_due or _gone) and not is_collecting() and not getattr(_here, "busy", False):
        _here.busy = True
        try:
            _do_all()
        finally:
            _here.busy = False


def _do_all() -> None:
    while (do := _next()) is not None:
        try:
            _do(do)
        except BaseException:  # delivered; what was interrupted is due again
            _due.appendleft(do)
            raise


def _do(do: Callable[[], object]) -> None:
    try:
        do()
    except Exception as error:
        raise_if_delivered(error)
        _logger.warning("what was left half-way could not be ended", exc_info=True)


def _next() -> Callable[[], object] | None:
    """Return what is due next. What a finalizer noted comes first: it may cancel what else its object's end does."""
    with suppress(IndexError):  # another thread took it
        if _due:
            return _due.popleft()
        while _gone:
            each = _gone.popleft()
            if _waiting.pop(id(each), None) is not None:
                do: Callable[[], object] = each._do
                return do
    return None


def _forget() -> None:
    """Do nothing of what the process that this one was forked from has to do."""
    _due.clear()
    _gone.clear()
    _waiting.clear()


in_child(_forget)
