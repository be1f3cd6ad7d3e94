"""An answer that streams on after the call: each step runs in the call's context, and its end is reported once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from opentelemetry.context import Context

from rop_otel.instrumenting import guarded, using_context

Done: TypeAlias = Callable[[str, BaseException | None], None]
"""Called with the text as far as it came, and with what was raised."""


class Streaming:
    """What follows a stream of tokens.

    Args:
        context: In which its steps run.
        done: Called at its end, in that context: when it is done, raises, is closed or is garbage.
    """

    def __init__(self, context: Context, done: Done) -> None:
        self._context = context
        self._done = done
        self._tokens: list[str] = []

    def begin(self) -> None:
        """Begin; the stream is there already."""

    def step(self) -> using_context:
        """Return a block in the context of the call."""
        return using_context(self._context)

    def add(self, token: Any) -> None:
        """Take in a token."""
        if isinstance(token, str):
            self._tokens.append(token)

    def end(self, error: BaseException | None = None) -> None:
        """Report how it ended."""
        with self.step(), guarded("LlamaIndex, the end of a stream"):
            self._done("".join(self._tokens), error)
