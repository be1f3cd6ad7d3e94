"""Told of LlamaIndex's spans and events, without being one of its handlers.

LlamaIndex swallows whatever comes up in a handler, and so also the exception by which a job queue ends a task and that
only happens to be delivered there. So the methods that call the handlers are wrapped, for as long as somebody is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined] # exported in a comment
from opentelemetry.instrumentation.utils import unwrap
from wrapt import wrap_function_wrapper

from rop_otel.instrumenting import create_lock

_METHODS: Final = ("span_enter", "span_exit", "span_drop", "event")


class Told(Protocol):
    """Is told after the handlers, with the arguments that they are called with."""

    @property
    def span_enter(self) -> Callable[..., None]:
        """Take in that a call began."""

    @property
    def span_exit(self) -> Callable[..., None]:
        """Take in that it returned."""

    @property
    def span_drop(self) -> Callable[..., None]:
        """Take in that it raised."""

    @property
    def event(self) -> Callable[..., None]:
        """Take in an event."""


_told: tuple[Told, ...] = ()
_lock: Final = create_lock()


def tell(one: Told) -> None:
    """Tell one more."""
    global _told
    with _lock:
        if not _told:
            for name in _METHODS:
                wrap_function_wrapper(type(get_dispatcher()), name, _then(name))
        _told = (*_told, one)


def leave(one: Told) -> None:
    """Tell one no more."""
    global _told
    with _lock:
        before, _told = _told, tuple(each for each in _told if each is not one)
        if before and not _told:
            for name in _METHODS:
                unwrap(type(get_dispatcher()), name)


def _then(name: str) -> Callable[..., None]:
    def call(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        wrapped(*args, **kwargs)
        for each in _told:
            getattr(each, name)(*args, **kwargs)

    return call
