"""Work that is done one piece after another."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from rop_otel.safety import Turns


def test_a_piece_that_comes_in_between_is_done_next() -> None:
    """What is brought in the middle of a piece is done after it, in the order in which it came."""
    turns, done = Turns(), []

    def outer() -> None:
        turns.do(lambda: done.append("second"))
        turns.do(lambda: done.append("third"))
        done.append("first")

    turns.do(outer)
    assert done == ["first", "second", "third"]


def test_what_comes_while_somebody_reads_is_done_afterwards() -> None:
    """A piece that interrupts a reader of its own thread waits until that one settles."""
    turns, done = Turns(), []
    with turns.lock:
        turns.do(lambda: done.append("piece"))
        assert done == []
    turns.settle()
    assert done == ["piece"]


def test_a_piece_that_raises_holds_nobody_up() -> None:
    """Its exception reaches the caller, and what it left undone is done with the next piece."""
    turns, done = Turns(), []

    def failing() -> None:
        turns.do(lambda: done.append("nested"))
        raise LookupError

    with pytest.raises(LookupError):
        turns.do(failing)
    turns.do(lambda: done.append("next"))
    assert done == ["nested", "next"]


def test_threads_wait_for_their_turn() -> None:
    """While a thread is in the middle of a piece, another one waits, and its piece is done when it goes on."""
    turns, done, entered, go_on = Turns(), [], Event(), Event()

    def slow() -> None:
        entered.set()
        go_on.wait(60)
        done.append("slow")

    def quick() -> None:
        turns.do(lambda: done.append("quick"))
        done.append("after it")

    threads = [Thread(target=turns.do, args=(slow,)), Thread(target=quick)]
    threads[0].start()
    entered.wait(60)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert done == ["slow", "quick", "after it"]
