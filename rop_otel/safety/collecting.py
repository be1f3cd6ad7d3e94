"""Whether the garbage collector runs in this thread, and so maybe inside ``ContextVar.set``.

Up to CPython 3.11 it runs inside of any C function that allocates. If a finalizer then sets a context variable, it
frees the map that an interrupted ``ContextVar.set`` still reads, and the process crashes (cpython#122529). Later
versions run it between two instructions. There a finalizer would still change the context of code that does not expect
it.

The collector reports its start and its end. Only C code receives these reports: in Python code a signal handler could
raise, and the collector would swallow its exception.
"""

from __future__ import annotations

import gc
import threading
from functools import partial
from types import SimpleNamespace
from typing import Any, Final


class _Report:
    """The last report: whichever of its two names is set, the value stands in the one slot."""

    __slots__ = ("last",)
    last: object


setattr(_Report, "start", vars(_Report)["last"])  # noqa: B010 - mypy takes slots for no attributes of a class
setattr(_Report, "stop", vars(_Report)["last"])  # noqa: B010

_anywhere: Final = _Report()
_anywhere.last = None
_started: Final = SimpleNamespace(start=_anywhere)
_here: Final = threading.local()


def collection() -> object | None:
    """Return the collection that runs in this thread now, another object for each; None outside of any."""
    started: object = _started.start
    if _anywhere.last is not started:
        return None
    return started if getattr(_here, "start", None) is started else None


def is_collecting() -> bool:
    """Return whether the collector runs in this thread now: the caller is part of a finalizer that it called."""
    return collection() is not None


# Each is called with the phase, "start" or "stop", and a new dictionary, the same one for all three.
_reports: Final[list[Any]] = [partial(setattr, each) for each in (_anywhere, _started, _here)]
gc.callbacks.extend(_reports)
