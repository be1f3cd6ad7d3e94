from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any
from weakref import ref

import pytest

import rop_otel as rop


class Connection:
    """Something that a function holds while it runs."""


HELD: list[ref[Connection]] = []


def hold() -> Connection:
    """Return something, and remember it as long as somebody has it."""
    held = Connection()
    HELD.append(ref(held))
    return held


@rop.stage("vector")
async def search() -> None:
    held = hold()
    await asyncio.sleep(9)
    del held


@rop.stage("vector")
def hits() -> Generator[str, None, None]:
    held = hold()
    yield "a"
    del held


@rop.stage("vector")
async def found() -> AsyncGenerator[str, None]:
    held = hold()
    yield "a"
    del held


async def cancel() -> None:
    """Cancel a task that runs a coroutine."""
    task = asyncio.create_task(search())
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def throw() -> None:
    """Throw into a generator."""
    steps = hits()
    next(steps)
    with suppress(ValueError):
        steps.throw(ValueError("stop"))


async def throw_asynchronously() -> None:
    """Throw into an asynchronous generator."""
    steps = found()
    await anext(steps)
    with suppress(ValueError):
        await steps.athrow(ValueError("stop"))


@pytest.mark.parametrize("end", [cancel, throw, throw_asynchronously])
def test_what_a_cancelled_function_held_is_freed_at_once(end: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """A task that is cancelled, or a generator that is thrown into, lets go of its connection without the collector."""
    HELD.clear()
    gc.collect()
    gc.disable()
    try:
        asyncio.run(end())
        assert [each() for each in HELD] == [None]
    finally:
        gc.enable()
