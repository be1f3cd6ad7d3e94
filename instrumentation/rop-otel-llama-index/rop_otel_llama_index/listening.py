"""Objects that hear of LlamaIndex's spans and events, without being handlers of it.

LlamaIndex swallows whatever comes up in a handler. That may be the exception by which a job queue ends a task, which
can be delivered at any moment. So the methods that call the handlers are wrapped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined] # exported in a comment

from rop_otel.instrumenting import Function, Patches

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


def patched(listener: Listener) -> Patches:
    """Call a listener from now on, until the patches are undone."""
    patches = Patches("LlamaIndex")
    for name in _METHODS:
        patches.replace(type(get_dispatcher()), name, partial(_listened, name, listener))
    return patches


def _listened(name: str, listener: Listener, original: Function) -> Function:
    hear = getattr(listener, name)

    @functools.wraps(original)
    def call(dispatcher: Any, /, *args: Any, **kwargs: Any) -> None:
        original(dispatcher, *args, **kwargs)
        hear(*args, **kwargs)

    @functools.wraps(original)
    def call_first(dispatcher: Any, /, *args: Any, **kwargs: Any) -> None:
        try:
            hear(*args, **kwargs)
        finally:
            original(dispatcher, *args, **kwargs)

    return call_first if name in _ENDS else call
