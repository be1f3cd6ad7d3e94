"""An answer that streams on after the call: each step runs in the call's context, and its end is told once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from types import TracebackType
from typing import Any, Self, TypeAlias

from opentelemetry.context import Context

from rop_otel.instrumenting import failure, using_context

Done: TypeAlias = Callable[[str, BaseException | None], None]
"""Told the text as far as it came, and what was raised."""


class _Watching:
    """What both kinds of streams share.

    Args:
        inner: The stream, a generator.
        context: In which its steps run.
        done: Told of its end, in that context: when it is done, raises, is closed or is garbage.
    """

    def __init__(self, inner: Any, context: Context, done: Done) -> None:
        self._inner = inner
        self._context = context
        self._done: Done | None = done
        self._tokens: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End with the step that raises, which a stream does at its end too."""
        if error is not None:
            self._finish(None if isinstance(error, StopIteration | StopAsyncIteration) else error)

    def _take(self, token: Any) -> Any:
        if isinstance(token, str):
            self._tokens.append(token)
        return token

    def _finish(self, error: BaseException | None = None) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        with using_context(self._context):
            try:
                done("".join(self._tokens), error)
            except Exception:  # noqa: BLE001 - monitoring never raises into the application
                failure("LlamaIndex, the end of a stream", "it could not be watched")

    def __del__(self) -> None:
        self._finish()


class Stream(_Watching, Generator[Any, Any, Any]):
    """A stream of tokens."""

    def send(self, value: Any) -> Any:
        """Return the next token."""
        with using_context(self._context), self:
            return self._take(next(self._inner) if value is None else self._inner.send(value))

    def throw(
        self,
        typ: Any,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
    ) -> Any:
        """Raise inside of the stream."""
        with using_context(self._context), self:
            return self._take(self._inner.throw(typ, val, tb) if val is not None else self._inner.throw(typ))

    def close(self) -> None:
        """Give the stream up."""
        try:
            self._inner.close()
        finally:
            self._finish()


class AsyncStream(_Watching, AsyncGenerator[Any, Any]):
    """A stream of tokens that is awaited."""

    async def asend(self, value: Any) -> Any:
        """Return the next token."""
        with using_context(self._context), self:
            return self._take(await (self._inner.__anext__() if value is None else self._inner.asend(value)))

    async def athrow(
        self,
        typ: Any,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
    ) -> Any:
        """Raise inside of the stream."""
        with using_context(self._context), self:
            return self._take(await (self._inner.athrow(typ, val, tb) if val is not None else self._inner.athrow(typ)))

    async def aclose(self) -> None:
        """Give the stream up."""
        try:
            await self._inner.aclose()
        finally:
            self._finish()
