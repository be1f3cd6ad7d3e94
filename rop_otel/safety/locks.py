"""Locks that their own thread can take again, and that a forked process finds free."""

from __future__ import annotations

import _thread
import threading
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from rop_otel.safety.forks import in_child

if TYPE_CHECKING:
    from threading import RLock

_locks: Final[set[ref[Any]]] = set()


def create_lock() -> RLock:
    """Return a lock that a signal handler or finalizer of the thread that holds it can take, too.

    So the protected code may be entered a second time before it has finished: its data has to be consistent at each
    step. In a forked process the lock is free, unless the thread that forked holds it; that thread goes on and
    releases it.
    """
    lock = threading.RLock()
    if isinstance(lock, _thread.RLock):  # gevent's own: the greenlet that holds one goes on in the forked process
        _locks.add(ref(lock, _locks.discard))  # not a WeakSet: its Python code would run in a finalizer
    return lock


def _renew() -> None:
    """Free the locks of threads that a forked process does not have."""
    for lock in [each() for each in tuple(_locks)]:
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()


in_child(_renew)
