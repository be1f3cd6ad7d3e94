"""Carries a call to where LlamaIndex runs a part of it: in some versions a thread that knows nothing of the call."""

from __future__ import annotations

import functools
from collections.abc import Coroutine
from typing import Any

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import Function, current_context, make_current
from rop_otel_llama_index.watched import innermost


def coroutine(original: Function) -> Function:
    """Return what runs a coroutine in the caller's context: in a running loop some versions use a bare thread."""

    @functools.wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not args or innermost() is None:
            return original(*args, **kwargs)
        return original(_inside(current_context(), args[0]), *args[1:], **kwargs)

    return run


def function(original: Function) -> Function:
    """Return what makes a function awaitable that runs in a thread in the call's context: older versions leave it."""

    @functools.wraps(original)
    def awaitable(*args: Any, **kwargs: Any) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            return await original(rop.carry_context(args[0]), *args[1:], **kwargs)(*given, **named)

        return call if args else original(*args, **kwargs)

    return awaitable


async def _inside(context: Context, awaited: Coroutine[Any, Any, Any]) -> Any:
    make_current(context)  # of the task that runs it, and so never to be put back
    return await awaited
