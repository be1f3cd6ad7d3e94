"""Requests of an application that leave something of ours half-way, in a reference cycle that only the collector frees.

The application's own programs: nothing in them knows of a collector.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import rop_otel as rop
from rop_otel.instrumenting import using_baggage

HITS = ["n1", "n2", "n3", "n4"]


class Kept:
    """Keeps something, and itself."""

    def __init__(self, kept: object) -> None:
        self.kept = kept
        self.itself = self


@rop.stage("vector")
def found() -> Iterator[str]:
    """Search."""
    try:
        yield from HITS
    finally:
        with rop.using_stage("cleaning", source=True) as stage:
            stage.returned([])


@rop.stage("vector")
async def awaited_one_by_one() -> AsyncIterator[str]:
    """Search."""
    try:
        for hit in HITS:
            yield hit
    finally:
        await asyncio.sleep(0)


@rop.stage("vector")
async def awaited() -> list[str]:
    """Search, and wait for it."""
    await asyncio.sleep(0)
    return HITS


def _answer() -> Iterator[str]:
    """Answer piece by piece, inside of all blocks that there are."""
    with (
        rop.handoff("streamed", selected="n1") as handoff,
        rop.using_round(1),
        using_baggage("http://index.example"),
        rop.using_stage("vector") as stage,
    ):
        for hit in found():
            stage.returned([hit])
            yield hit
        handoff.answered("n1", sources=HITS)


def a_decorated_generator() -> None:
    """Take the first hit only."""
    hits = found()
    next(hits)
    Kept(hits)


def a_generator_that_holds_a_handoff() -> None:
    """Take the first piece of an answer only."""
    pieces = _answer()
    next(pieces)
    Kept(pieces)


def a_handoff_with_a_decorated_generator() -> None:
    """Leave a search in a handoff of the request."""
    with rop.handoff("request", selected="n1"):
        a_decorated_generator()
        with rop.using_stage("packing", input=HITS) as stage:
            stage.returned(HITS)


def a_handoff_that_nobody_closes() -> None:
    """Start one, and forget it."""
    handoff = rop.start_handoff("forgotten")
    with handoff:
        a_decorated_generator()
    Kept(handoff)


def a_coroutine() -> None:
    """Begin to wait, and give up."""
    coroutine: Coroutine[Any, Any, list[str]] = awaited()
    coroutine.send(None)
    Kept(coroutine)


def an_asynchronous_generator() -> None:
    """Take the first hit only, and end the loop."""

    async def main() -> None:
        hits = awaited_one_by_one()
        async for _ in hits:
            break
        Kept(hits)

    asyncio.run(main())


REQUESTS: list[Callable[[], None]] = [
    a_decorated_generator,
    a_generator_that_holds_a_handoff,
    a_handoff_with_a_decorated_generator,
    a_handoff_that_nobody_closes,
    a_coroutine,
]
RARELY: list[Callable[[], None]] = [an_asynchronous_generator]
"""Those that take long."""
