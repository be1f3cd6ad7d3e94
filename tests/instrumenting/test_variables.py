"""Context variables that a block sets."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar, copy_context

from rop_otel.instrumenting import Variables
from tests.safety.interrupting import Interruption, places

ONE: ContextVar[int | None] = ContextVar("one", default=None)
OTHER: ContextVar[int | None] = ContextVar("other", default=None)


def block() -> None:
    """Set two variables, one of them twice, and put them back."""
    variables = Variables()
    try:
        variables.set(ONE, 1)
        variables.set(OTHER, 2)
        variables.set(ONE, 3)
    finally:
        variables.put_back()


def test_they_are_put_back() -> None:
    """After a block each is what it was before, set or not."""
    ONE.set(7)
    block()
    assert (ONE.get(), OTHER.get()) == (7, None)
    ONE.set(None)


def test_another_context_is_left_alone() -> None:
    """What was set in another context is not put back here."""
    variables = Variables()
    copy_context().run(variables.set, ONE, 1)
    ONE.set(5)
    variables.put_back()
    assert ONE.get() == 5
    ONE.set(None)


def test_an_interruption_leaves_nothing_set() -> None:
    """Wherever an exception arrives from outside, each is what it was before.

    Only where it arrives as soon as put_back() is called, as it may where any block ends, nobody can do anything.
    """

    def late() -> None:
        raise TimeoutError

    left = 0
    for place in places():
        interruption = Interruption(place, late)
        with suppress(TimeoutError):
            interruption.during(block)
        left += (ONE.get(), OTHER.get()) != (None, None)
        ONE.set(None)
        OTHER.set(None)
        if not interruption.happened:
            break
    assert place > 5
    assert left <= 1
