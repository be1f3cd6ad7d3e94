"""Stages that yield their documents one by one.

The stage is current while its generator works and never while its consumer does: the context is put back at each
``yield``. So a consumer's spans have the right parent, and a generator that is left half-way, or closed by the garbage
collector in another task, leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import TracebackType
from typing import Any

from opentelemetry.context import attach, get_current

from rop_otel.tracing.reading import UNREADABLE, Reading
from rop_otel.tracing.stage import Stage


class Current:
    """Makes a stage current for one step of its generator, and keeps what that step made current for the next one."""

    __slots__ = ("_before", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __enter__(self) -> None:
        self._before = get_current()
        attach(self._stage._context)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stage._context = get_current()
        attach(self._before)


class Collected:
    """IDs, scores and scopes of what was yielded so far, without the documents."""

    __slots__ = ("_ids", "_limit", "_scopes", "_scores", "_stage", "_total")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._limit = stage._runtime.config.max_ids
        self._total = 0
        self._ids: list[str] = []
        self._scores: list[float] = []
        self._scopes: list[str] = []

    def add(self, item: object) -> None:
        """Take in one document."""
        self._total += 1
        if self._total > self._limit or not self._stage._wanted:
            return
        raw, score, scope = self._stage._spec.results.read_one(item)
        self._ids.append(raw)
        self._scopes.append(scope)
        if score is not None:
            self._scores.append(score)

    def reading(self) -> Reading:
        """Return what a list of the same documents would have given."""
        if self._ids and not any(self._ids):
            return UNREADABLE
        return Reading(
            tuple(self._ids),
            tuple(self._scores) if self._ids and len(self._scores) == len(self._ids) else None,
            tuple(self._scopes) if any(self._scopes) else None,
            self._total if self._total > self._limit else None,
        )


class Steps(Generator[Any, Any, Any]):
    """A generator run as a stage, step by step; for ``yield from``, which hands on all that its consumer does."""

    def __init__(self, stage: Stage, generator: Generator[Any, Any, Any]) -> None:
        self._stage = stage
        self._generator = generator
        self._collected = Collected(stage)

    def send(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        return self._step(self._generator.send, value)

    def throw(self, typ: Any, val: Any = None, tb: Any = None) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        return self._step(self._generator.throw, typ if val is None else val)

    def close(self) -> None:
        """End the stage with what was yielded so far."""
        try:
            with Current(self._stage):
                self._generator.close()
        except BaseException as error:
            self._stage._end(self._collected.reading(), error)
            raise
        self._stage._end(self._collected.reading())

    def _step(self, step: Callable[[Any], Any], value: Any) -> Any:
        try:
            with Current(self._stage):
                item = step(value)
        except StopIteration:
            self._stage._end(self._collected.reading())
            raise
        except BaseException as error:
            self._stage._end(self._collected.reading(), error)
            raise
        self._collected.add(item)
        return item


class AsyncSteps:
    """The same for an asynchronous generator."""

    def __init__(self, stage: Stage, generator: AsyncGenerator[Any, Any]) -> None:
        self._stage = stage
        self._generator = generator
        self._collected = Collected(stage)

    async def asend(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        return await self._step(self._generator.asend, value)

    async def athrow(self, error: BaseException) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        return await self._step(self._generator.athrow, error)

    async def aclose(self) -> None:
        """End the stage with what was yielded so far."""
        try:
            with Current(self._stage):
                await self._generator.aclose()
        except BaseException as error:
            self._stage._end(self._collected.reading(), error)
            raise
        self._stage._end(self._collected.reading())

    async def _step(self, step: Callable[[Any], Awaitable[Any]], value: Any) -> Any:
        try:
            with Current(self._stage):
                item = await step(value)
        except StopAsyncIteration:
            self._stage._end(self._collected.reading())
            raise
        except BaseException as error:
            self._stage._end(self._collected.reading(), error)
            raise
        self._collected.add(item)
        return item
