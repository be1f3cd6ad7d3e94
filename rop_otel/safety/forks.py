"""What a forked process does first."""

from __future__ import annotations

import os
from collections.abc import Callable


def in_child(do: Callable[[], object]) -> None:
    """Have something done in each process that is forked from this one, before anything else runs in it.

    What was asked for first is done first; locks of :func:`rop_otel.safety.create_lock` are free by then.

    Args:
        do: What to do. It is kept for ever.
    """
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=do)
