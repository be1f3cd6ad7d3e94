"""Handoffs that begin with the first retrieval, wherever that is."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from opentelemetry.context import attach, detach, get_value, set_value

from rop_otel.instrumenting import Deferred, Once, using_context


class Blocks:
    """A block that counts, and is current inside of itself."""

    def __init__(self) -> None:
        self.begun: list[object] = []
        self.ended: list[BaseException | None] = []

    @contextmanager
    def block(self) -> Iterator[None]:
        """Count one."""
        self.begun.append(get_value("around"))
        token = attach(set_value("inside", True))
        try:
            yield
        except BaseException as error:
            self.ended.append(error)
            raise
        else:
            self.ended.append(None)
        finally:
            detach(token)


@pytest.fixture
def blocks() -> Blocks:
    """A block that counts."""
    return Blocks()


def test_nothing_begins_without_need(blocks: Blocks) -> None:
    """Where nothing is retrieved there is no handoff, and none to end."""
    deferred = Deferred(blocks.block())
    deferred.end()
    assert (deferred.began, blocks.begun, blocks.ended) == (False, [], [])


def test_it_begins_once_where_it_was_made(blocks: Blocks) -> None:
    """It begins in the context of the call, in whichever thread the first retrieval is, and all find it current."""
    with using_context(set_value("around", "the call")):
        deferred = Deferred(blocks.block())

    def retrieve() -> object:
        with using_context(deferred.context()):
            found = get_value("inside")
        return found, get_value("inside")

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: contextvars.copy_context().run(retrieve), range(8)))
    assert found == [(True, None)] * 8
    assert (deferred.began, blocks.begun) == (True, ["the call"])
    assert get_value("inside") is None


def test_what_retrieves_while_it_begins_is_outside() -> None:
    """A selector that retrieves, called while the handoff begins, neither waits for itself nor begins it twice."""
    found: list[object] = []

    @contextmanager
    def selecting() -> Iterator[None]:
        with using_context(deferred.context()):
            found.append(get_value("inside"))
        with using_context(set_value("inside", True)):
            yield

    deferred = Deferred(selecting())
    with using_context(deferred.context()):
        found.append(get_value("inside"))
    deferred.end()
    assert found == [None, True]


def test_nothing_begins_after_the_end(blocks: Blocks) -> None:
    """What is still running when the call is over is where the call was made: a block begun now would never end."""
    with using_context(set_value("around", "the call")):
        deferred = Deferred(blocks.block())
    deferred.end()
    with using_context(deferred.context()):
        assert (get_value("around"), get_value("inside")) == ("the call", None)
    assert (deferred.began, blocks.begun, blocks.ended) == (False, [], [])


def test_it_ends_with_what_was_raised(blocks: Blocks) -> None:
    """Its end tells the block what the call raised."""
    deferred = Deferred(blocks.block())
    deferred.context()
    error = ConnectionError("no model")
    deferred.end(error)
    assert blocks.ended == [error]


def test_what_is_needed_by_several_is_made_once() -> None:
    """All threads that need it at the same time are given the same one."""
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Once(make)
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: once.get(), range(20)))
    assert found == set(made)
    assert len(made) == 1


def test_what_is_needed_while_it_is_made_is_the_first_one() -> None:
    """A signal handler that needs it in the middle of its making gets one, and so does the code that it interrupted."""
    inner: list[object] = []

    def make() -> object:
        if not inner:
            inner.append(None)
            inner[0] = once.get()
        return object()

    once: Once[object] = Once(make)
    assert once.get() is inner[0] is once.get()
