"""Whether the garbage collector runs in this thread, and so maybe in the middle of ``ContextVar.set``.

Up to CPython 3.11 it runs inside of any C function that allocates. What sets a context variable in a finalizer then
frees the map that an interrupted ``ContextVar.set`` still reads, and the process ends (cpython#122529). A later version
runs it between two instructions, where a finalizer would still change the context of code that knows nothing of it.

The collector reports its start and its end. What takes these reports is written in C on purpose: in Python code a
signal handler could raise, and the collector would swallow its exception.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

_phases: Final[OrderedDict[str, None]] = OrderedDict(start=None, stop=None)
"""The phase that was reported last stands last."""
_anywhere: Final = SimpleNamespace(start=None)
_here: Final = threading.local()


def collection() -> object | None:
    """Return the collection that runs in this thread now, another object for each; None outside of any."""
    if next(reversed(_phases)) != "start":
        return None
    here: object = getattr(_here, "start", None)
    return here if here is _anywhere.start else None


def is_collecting() -> bool:
    """Return whether the collector runs in this thread now: the caller is part of a finalizer that it called."""
    return collection() is not None


# Each is called with the phase and a new dictionary, the same one for all three. OrderedDict.move_to_end takes the
# dictionary, which is not empty, as last=True.
_reports: Final[list[Any]] = [_phases.move_to_end, partial(setattr, _anywhere), partial(setattr, _here)]
gc.callbacks.extend(_reports)
