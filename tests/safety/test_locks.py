"""Locks of the monitor in a forked process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from rop_otel.safety import create_lock, locks

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def in_fork(check: Callable[[], bool]) -> bool:
    """Return what a check says in a forked process."""
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def held(lock: AbstractContextManager[bool]) -> Iterator[None]:
    """Have another thread hold a lock."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(60)
    yield
    done.set()
    thread.join(60)


def test_a_lock_of_another_thread_is_free() -> None:
    """The child does not have the thread that would release it."""
    lock = create_lock()
    with held(lock):
        assert not lock.acquire(blocking=False)
        assert in_fork(lambda: lock.acquire(blocking=False))


def test_who_forks_with_a_lock_keeps_it() -> None:
    """A signal handler may fork in the middle of our code, which goes on in the child and releases what it holds."""
    lock = create_lock()

    def others_wait() -> bool:
        taken: list[bool] = []
        thread = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join(60)
        return taken == [False]

    with lock:
        assert in_fork(others_wait)

    def go_on() -> bool:
        lock.release()
        return not others_wait()

    lock.acquire()
    assert in_fork(go_on)
    lock.release()


class Greenlets:
    """A lock as gevent puts it in the place of the interpreter's; its greenlets go on in a forked process."""

    def __init__(self) -> None:
        self.freed = False

    def _is_owned(self) -> bool:
        return False

    def _at_fork_reinit(self) -> None:
        self.freed = True


def test_a_lock_of_gevent_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The greenlet that holds it has a copy in the child, which releases it."""
    monkeypatch.setattr("threading.RLock", Greenlets)
    lock: object = create_lock()
    locks._renew()
    assert isinstance(lock, Greenlets)
    assert not lock.freed
