"""Carries a call to where LlamaIndex runs a part of it: in some versions a thread that knows nothing of the call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import current_context, make_current
from rop_otel_llama_index.watched import innermost


def coroutine(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a coroutine in the caller's context: while an event loop runs, some versions run it in a bare thread."""
    if not args or innermost() is None:
        return wrapped(*args, **kwargs)
    return wrapped(_inside(current_context(), args[0]), *args[1:], **kwargs)


def function(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Make a function awaitable that runs in a thread in the context of the call: older versions leave it behind."""

    async def call(*given: Any, **named: Any) -> Any:
        return await wrapped(rop.carry_context(args[0]), *args[1:], **kwargs)(*given, **named)

    return call if args else wrapped(*args, **kwargs)


async def _inside(context: Context, awaited: Coroutine[Any, Any, Any]) -> Any:
    make_current(context)  # of the task that runs it, and so never to be put back
    return await awaited
