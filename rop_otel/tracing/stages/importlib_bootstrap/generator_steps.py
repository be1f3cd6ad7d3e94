"""Generators of the application that are followed step by step."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractContextManager
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Protocol

from rop_otel.safety import WhenGone
from rop_otel.tracing.stages.importlib_bootstrap.stand_in import Standing


class Following(Protocol):
    """Follows a generator from its first step to its end. No method is called again after the end."""

    def begin(self) -> Any:
        """Begin with the first step; it may return the generator, where that is made only now."""

    def step(self) -> AbstractContextManager[object]:
        """Return the block in which a step runs."""

    def add(self, item: Any) -> object:
        """Take in what a step gave."""

    def end(self, error: BaseException | None = None) -> object:
        """End, when the generator is over or nobody has it any more; with what it raised."""


class _Followed(Standing):
    """What both kinds share.

    Args:
        inner: The generator; None: beginning to follow it makes it.
        following: What follows it.
        at_once: True begins now, and not with the first step.
    """

    __slots__ = ("_following", "_gone")

    def __init__(self, inner: Any, following: Following, *, at_once: bool = False) -> None:
        Standing.__init__(self, inner)
        self._following: Following | None = following
        self._gone: WhenGone | None = None
        if at_once:
            self._begin(following)

    def _begin(self, following: Following) -> None:
        if self._gone is None:
            self._gone = WhenGone(self, following.end)
            try:
                self._inner = following.begin() or self._inner
            except BaseException as error:  # in strict mode
                self._end(error)
                raise

    def _end(self, error: BaseException | None = None) -> None:
        following, self._following = self._following, None
        gone, self._gone = self._gone, None
        if gone is not None:
            gone.cancel()
            if following is not None:
                following.end(error)


class Steps(_Followed, Generator[Any, Any, Any]):
    """A generator, or another iterator."""

    __slots__ = ()
    _kind = GeneratorType

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        return self._run("__next__")

    def send(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        return self._run("__next__") if value is None else self._run("send", value)

    def throw(self, *raised: Any) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        try:
            return self._run("throw", *raised)
        finally:
            del raised  # its traceback leads here: in a cycle it would keep every frame for the garbage collector

    def close(self) -> None:
        """End with what was yielded so far."""
        following = self._following
        close: Callable[[], None] = getattr(self._inner, "close", _nothing)
        if following is None or self._gone is None:
            self._end()
            close()
            return
        try:
            with following.step():
                close()
        except BaseException as error:
            self._end(error)
            raise
        self._end()

    def _run(self, step: str, *given: Any) -> Any:
        following = self._following
        try:
            if following is None:
                return getattr(self._inner, step)(*given)
            self._begin(following)
            with following.step():
                item = getattr(self._inner, step)(*given)
        except BaseException as error:
            if self._is_over():
                self._end(None if isinstance(error, StopIteration) else error)
            raise
        finally:
            del given  # maybe what was thrown in
        following.add(item)
        return item


class AsyncSteps(_Followed, AsyncGenerator[Any, Any]):
    """An asynchronous generator, or another asynchronous iterator.

    Only what it stands for registers with the event loop, which so closes it once.
    """

    __slots__ = ()
    _kind = AsyncGeneratorType

    def __aiter__(self) -> AsyncSteps:
        return self

    def __anext__(self) -> Any:
        return self._run("__anext__")

    def asend(self, value: Any) -> Any:
        """Run to the next ``yield``."""
        return self._run("__anext__") if value is None else self._run("asend", value)

    def athrow(self, *raised: Any) -> Any:
        """Raise what the consumer threw in at the ``yield``, and run to the next one."""
        return self._run("athrow", *raised)

    async def aclose(self) -> None:
        """End with what was yielded so far."""
        following = self._following
        close: Callable[[], Awaitable[None]] = getattr(self._inner, "aclose", _nothing_awaited)
        if following is None or self._gone is None:
            self._end()
            await close()
            return
        try:
            with following.step():
                await close()
        except BaseException as error:
            self._end(error)
            raise
        self._end()

    async def _run(self, step: str, *given: Any) -> Any:
        following = self._following
        try:
            if following is None:
                return await getattr(self._inner, step)(*given)
            self._begin(following)
            with following.step():
                item = await getattr(self._inner, step)(*given)
        except BaseException as error:
            if self._is_over():
                self._end(None if isinstance(error, StopAsyncIteration) else error)
            raise
        finally:
            del given  # maybe what was thrown in, whose traceback leads here
        following.add(item)
        return item


def _nothing() -> None:
    """Stand for the ``close`` of an iterator that has none."""


async def _nothing_awaited() -> None:
    """Stand for the ``aclose`` of an iterator that has none."""
