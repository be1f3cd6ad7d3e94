"""Garbage collection held off while a lot is built that stays: nothing of it is garbage, and looking costs most."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Hold off cyclic garbage collection in this process; what has no references left goes all the same."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
