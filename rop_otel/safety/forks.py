"""Functions that a forked process calls first."""

from __future__ import annotations

import os
from collections.abc import Callable


def in_child(do: Callable[[], object]) -> None:
    """Register a function that each process forked from this one calls, before anything else runs in it.

    Functions are called in the order in which they were registered; locks of :func:`rop_otel.safety.create_lock` are
    free by then.

    Args:
        do: What to do. It is kept for ever.
    """
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=do)
