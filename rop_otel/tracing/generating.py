"""Stages that yield their documents one by one.

The stage is current while its generator works and never while its consumer does: the context is put back at each
``yield``. So a consumer's spans have the right parent, and a generator that is left half-way, or closed by the garbage
collector in another task, leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from types import TracebackType
from typing import Any

from opentelemetry.context import attach, get_current

from rop_otel.tracing.reading import UNREADABLE, Reading
from rop_otel.tracing.stage import Stage


class Collected:
    """IDs, scores and scopes of what a stage has yielded so far, without the documents."""

    __slots__ = ("_bare", "_ids", "_limit", "_scopes", "_scores", "_total", "stage")

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._limit = stage._runtime.config.max_ids
        self._total = 0
        self._bare = True
        self._ids: list[str] = []
        self._scores: list[float] = []
        self._scopes: list[str] = []

    def add(self, item: object) -> None:
        """Take in one document."""
        self._total += 1
        if self._total > self._limit or not self.stage._wanted:
            return
        self._bare = self._bare and type(item) is str
        raw, score, scope = self.stage._spec.results.read_one(item)
        self._ids.append(raw)
        self._scopes.append(scope)
        if score is not None:
            self._scores.append(score)

    def end(self, error: BaseException | None = None) -> None:
        """End the stage with what was yielded so far."""
        self.stage._end(self._reading(), error)

    def _reading(self) -> Reading:
        """Return what a list of the same documents would have given."""
        if self._ids and not any(self._ids):
            return UNREADABLE
        return Reading(
            tuple(self._ids),
            tuple(self._scores) if self._ids and len(self._scores) == len(self._ids) else None,
            tuple(self._scopes) if any(self._scopes) else None,
            self._total if self._total > self._limit else None,
            self._bare and bool(self._ids),
        )


class Step:
    """Makes a stage current while its generator works, and keeps what that made current for the next step.

    The stage ends with its generator.

    Args:
        collected: The stage, and what it has yielded so far.
        over: What its generator raises when it is over.
    """

    __slots__ = ("_before", "_collected", "_over")

    def __init__(self, collected: Collected, over: type[Exception]) -> None:
        self._collected = collected
        self._over = over

    def __enter__(self) -> None:
        self._before = get_current()
        attach(self._collected.stage._context)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._collected.stage._context = get_current()
        attach(self._before)
        if error is not None:
            self._collected.end(None if isinstance(error, self._over) else error)


class Steps(Generator[Any, Any, Any]):
    """A generator run as a stage, step by step; for ``yield from``, which hands on all that its consumer does."""

    def __init__(self, stage: Stage, generator: Generator[Any, Any, Any]) -> None:
        self._generator = generator
        self._collected = Collected(stage)

    def send(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        with self._step():
            item = self._generator.send(value)
        self._collected.add(item)
        return item

    def throw(self, typ: Any, val: Any = None, tb: Any = None) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        with self._step():
            item = self._generator.throw(typ if val is None else val)
        self._collected.add(item)
        return item

    def close(self) -> None:
        """End the stage with what was yielded so far."""
        with self._step():
            self._generator.close()
        self._collected.end()

    def _step(self) -> Step:
        return Step(self._collected, StopIteration)


class AsyncSteps:
    """The same for an asynchronous generator."""

    def __init__(self, stage: Stage, generator: AsyncGenerator[Any, Any]) -> None:
        self._generator = generator
        self._collected = Collected(stage)

    async def asend(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        with self._step():
            item = await self._generator.asend(value)
        self._collected.add(item)
        return item

    async def athrow(self, error: BaseException) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        with self._step():
            item = await self._generator.athrow(error)
        self._collected.add(item)
        return item

    async def aclose(self) -> None:
        """End the stage with what was yielded so far."""
        with self._step():
            await self._generator.aclose()
        self._collected.end()

    def _step(self) -> Step:
        return Step(self._collected, StopAsyncIteration)
