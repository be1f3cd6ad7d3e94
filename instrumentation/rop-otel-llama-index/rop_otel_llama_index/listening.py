"""Objects that hear of LlamaIndex's spans and events, without being handlers of it.

LlamaIndex swallows whatever comes up in a handler. That may be the exception by which a job queue ends a task, which
can be delivered at any moment. So the methods that call the handlers are wrapped, for as long as there is a listener.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined] # exported in a comment
from opentelemetry.instrumentation.utils import unwrap
from wrapt import wrap_function_wrapper

from rop_otel.instrumenting import create_lock

_METHODS: Final = ("span_enter", "span_exit", "span_drop", "event")


_ENDS: Final = frozenset({"span_exit", "span_drop"})


class Listener(Protocol):
    """Is called after the handlers, and where a span ends before them, so that what it began ends within theirs."""

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


_listeners: tuple[Listener, ...] = ()
_lock: Final = create_lock()


def add(listener: Listener) -> None:
    """Call a listener from now on."""
    global _listeners
    with _lock:
        if not _listeners:
            for name in _METHODS:
                wrap_function_wrapper(type(get_dispatcher()), name, _then(name))
        _listeners = (*_listeners, listener)


def remove(listener: Listener) -> None:
    """Call a listener no more."""
    global _listeners
    with _lock:
        before, _listeners = _listeners, tuple(each for each in _listeners if each is not listener)
        if before and not _listeners:
            for name in _METHODS:
                unwrap(type(get_dispatcher()), name)


def _then(name: str) -> Callable[..., None]:
    def call(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        wrapped(*args, **kwargs)
        for each in _listeners:
            getattr(each, name)(*args, **kwargs)

    def call_first(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            for each in _listeners:
                getattr(each, name)(*args, **kwargs)
        finally:
            wrapped(*args, **kwargs)

    return call_first if name in _ENDS else call
