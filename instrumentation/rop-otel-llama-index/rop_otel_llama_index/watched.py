"""What is watched while it runs: engines, retrievers, postprocessors. The innermost one is found in the context.

The context is put back by attaching the one before, never by its token, and only where it is still the own one: another
handler of spans may have put it back by then, since LlamaIndex tells handlers of an end in the order of the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from threading import Lock
from typing import Any, Final

from opentelemetry.context import Context, attach, create_key, get_current, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import failure, topmost

_KEY: Final = create_key("rop_otel_llama_index")


class Call:
    """A topmost call, which is one handoff; it ends with the call, and with every answer that streams on from it.

    Args:
        block: The handoff.
    """

    __slots__ = ("_block", "_lock", "_running", "originals", "owns", "rounds")

    def __init__(self, block: topmost) -> None:
        self._block = block
        self._lock = Lock()
        self._running = 1
        block.__enter__()
        self.owns = block.owns
        self.rounds = count(1)
        """Numbers of its rounds: a round may have rounds of its own."""
        self.originals: dict[str, Any] = {}
        """Retrieved nodes, by the IDs of copies that lost theirs."""

    def hold(self) -> None:
        """Leave the handoff open until one more :meth:`release`."""
        with self._lock:
            self._running += 1

    def release(self, error: BaseException | None = None) -> None:
        """End the handoff, where nothing else holds it."""
        with self._lock:
            self._running -= 1
            last = self._running == 0
        if last:
            self._block.__exit__(None if error is None else type(error), error, None)


class Watched:
    """Something that is watched while it runs; it is current from its making to :meth:`finish`.

    Args:
        instance: The engine, retriever, postprocessor or synthesizer.
        call: The topmost call that it belongs to, None outside of any.
        begins: A topmost call that begins with it, in place of ``call``.
        block: What it is inside of the handoff: a stage, a round.
    """

    def __init__(
        self,
        instance: object,
        *,
        call: Call | None = None,
        begins: topmost | None = None,
        block: AbstractContextManager[Any] | None = None,
    ) -> None:
        self.instance = instance
        self._before = get_current()
        self._begun = None if begins is None else Call(begins)
        self.call = call if self._begun is None else self._begun
        self._block = nullcontext() if block is None else block
        self._block.__enter__()
        attach(self.context())

    def context(self) -> Context:
        """Return the current context, with this as the innermost."""
        return set_value(_KEY, self)

    def returned(self, result: Any) -> None:
        """Take in what it returns."""

    def finish(self, result: Any, error: BaseException | None = None) -> None:
        """Take in what it returns or raises, and end; what goes wrong in that is logged."""
        try:
            if error is None:
                self.returned(result)
        except Exception:  # noqa: BLE001 - monitoring never raises into the application
            failure(f"LlamaIndex, what {type(self.instance).__name__} returned", "it could not be watched")
        try:
            self.end(error)
        except Exception:  # noqa: BLE001
            failure(f"LlamaIndex, the end of {type(self.instance).__name__}", "it could not be watched")
        finally:
            if get_value(_KEY) is self:
                attach(self._before)

    def end(self, error: BaseException | None = None) -> None:
        """End what began with it."""
        try:
            self._block.__exit__(None if error is None else type(error), error, None)
        finally:
            if self._begun is not None:
                self._begun.release(error)


class Listing(Watched):
    """A retriever or a postprocessor: a stage that returns a list of nodes.

    Args:
        stage: The stage, which begins here.
    """

    def __init__(
        self, instance: object, *, stage: rop.Stage, call: Call | None = None, begins: topmost | None = None
    ) -> None:
        self._stage = stage
        super().__init__(instance, call=call, begins=begins, block=stage)

    def returned(self, result: Any) -> None:
        """Take in the nodes."""
        self._stage.returned(result)


def innermost() -> Watched | None:
    """Return what is watched here, None outside of all."""
    found = get_value(_KEY)
    return found if isinstance(found, Watched) else None


def carry(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a coroutine in the caller's context: while an event loop runs, some versions run it in a bare thread."""
    if not args or innermost() is None:
        return wrapped(*args, **kwargs)
    return wrapped(_inside(get_current(), args[0]), *args[1:], **kwargs)


async def _inside(context: Context, coroutine: Coroutine[Any, Any, Any]) -> Any:
    attach(context)  # of the task that runs it, and so never to be put back
    return await coroutine
