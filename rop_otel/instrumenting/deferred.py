"""What begins, or is made, with the first need of it, and not at all where none comes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from opentelemetry.context import Context

from rop_otel.safety import create_lock
from rop_otel.tracing.position.context_position import current_context, using_context

T = TypeVar("T")


class Once(Generic[T]):
    """Something that is made when it is first needed, once, whichever thread or signal handler needs it first.

    Args:
        make: Makes it.
    """

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None
        self._lock = create_lock()

    def get(self) -> T:
        """Return it."""
        with self._lock:
            if self._made is None:
                made = self._make()
                if self._made is None:  # a signal handler may have come while it was made
                    self._made = made
            return self._made


class Deferred:
    """A handoff that begins with the first retrieval below a call of which nobody knows whether it retrieves.

    It begins in the context in which this is made, whichever thread or task retrieves first.

    Args:
        block: The handoff.
    """

    __slots__ = ("_before", "_beginning", "_block", "_context", "_ended", "_lock")

    def __init__(self, block: AbstractContextManager[object]) -> None:
        self._block = block
        self._before = current_context()
        self._context: Context | None = None
        self._beginning = False
        self._ended = False
        self._lock = create_lock()  # this thread may retrieve while it begins: a selector, signal handler or finalizer

    @property
    def began(self) -> bool:
        """Whether it was needed."""
        return self._context is not None

    def context(self) -> Context:
        """Return the context in which it is current; the first call begins it.

        What retrieves while it begins, in the same thread, is outside of it, as is all where beginning was interrupted.
        So is what goes on after the end, as a thread does that nobody waits for: nothing would end what it begins.
        """
        with self._lock:
            if self._context is None:
                if self._beginning or self._ended:
                    return self._before
                self._beginning = True
                with using_context(self._before):
                    self._block.__enter__()
                    try:
                        self._context = current_context()
                    except BaseException as error:  # delivered; without its context nobody would end it
                        self._block.__exit__(type(error), error, None)
                        raise
                self._beginning = False
        return self._context

    def end(self, error: BaseException | None = None) -> None:
        """End it, if it began."""
        with self._lock:
            self._ended = True
        if self._context is not None:
            with using_context(self._context):
                self._block.__exit__(None if error is None else type(error), error, None)
