"""Work that is done after an object is gone, or after the garbage collector, and never in a finalizer of ours.

A finalizer can run at any instruction: in code that holds a lock of others, or in ``ContextVar.set``. And an exception
that a signal handler raises in it is lost. So the interpreter itself, in C, notes the work that is due, and our code
does it when it is next used, in the first thread that uses it.
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
        """Cancel the work, because the object ended in another way, and forget it, so that it is not noted either."""
        _waiting.pop(id(self), None)


def afterwards(do: Callable[[], object]) -> None:
    """Do something now; while the garbage collector runs in this thread, note it to be done after that."""
    if is_collecting():
        _due.append(do)
    else:
        do()


def catch_up() -> None:
    """Do the work that is due. Called first in every function of the API; it costs nothing if no work is due."""
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
    """Return the next work that is due. Work noted in a finalizer comes first: it may cancel other work."""
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
    """Forget, in a forked process, the work of its parent."""
    _due.clear()
    _gone.clear()
    _waiting.clear()


in_child(_forget)
