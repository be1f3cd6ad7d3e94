"""Coroutines of the application that are stages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import CoroutineType
from typing import Any

from rop_otel.safety import WhenGone, is_collecting
from rop_otel.tracing.stages.importlib_bootstrap.stand_in import Standing
from rop_otel.tracing.stages.live_stage import LiveStage


class Awaited(Standing, Coroutine[Any, Any, Any]):
    """A coroutine, run as a stage that begins with its first step.

    Args:
        inner: The coroutine.
        stage: The stage.
        report_input: Reports to the stage what it is handed.
    """

    __slots__ = ("_running", "_steps")
    _kind = CoroutineType

    def __init__(self, inner: Any, stage: LiveStage, report_input: Callable[[LiveStage], object]) -> None:
        Standing.__init__(self, inner)
        self._running = _Running(stage, report_input)
        self._steps: Generator[Any, Any, Any] | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        if self._running.asked:
            again: Generator[Any, Any, Any] = self._awaitable()  # it refuses to be awaited a second time
            return again
        steps = _steps(self._running, self._awaitable())
        self._running.asked = True
        self._running.gone = WhenGone(steps, self._running.give_up)
        return steps

    def send(self, value: Any) -> Any:
        """Run to where it waits next."""
        if self._steps is None:
            self._steps = self.__await__()
        return self._steps.send(value)

    def throw(self, *raised: Any) -> Any:
        """Raise something where it waits, and run to where it waits next."""
        steps = self._inner if self._steps is None else self._steps
        try:
            return steps.throw(*raised)
        finally:
            del raised  # its traceback leads here: in a cycle it would keep every frame for the garbage collector

    def close(self) -> None:
        """Give it up."""
        try:
            self._inner.close()
        except BaseException as error:
            self._running.end(error)
            raise
        self._running.end(GeneratorExit())

    def _awaitable(self) -> Any:
        return self._inner.__await__()


class IterableAwaited(Awaited, Generator[Any, Any, Any]):
    """A generator that can be awaited, as ``types.coroutine`` makes them."""

    __slots__ = ()

    def __iter__(self) -> Generator[Any, Any, Any]:  # noqa: PYI058 - the base class's type
        return self.__await__()

    def __next__(self) -> Any:
        return self.send(None)

    def _awaitable(self) -> Any:
        return self._inner


class _Running:
    """The stage of a coroutine, from its first step to its end.

    It knows neither the coroutine nor its steps: what is left half-way is freed at once, without the garbage collector.
    """

    __slots__ = ("_begun", "_report_input", "_stage", "asked", "gone")

    def __init__(self, stage: LiveStage, report_input: Callable[[LiveStage], object]) -> None:
        self._stage: LiveStage | None = stage
        self._report_input = report_input
        self._begun = False
        self.asked = False
        self.gone: WhenGone | None = None

    def begin(self) -> None:
        """Begin the stage."""
        if self._stage is not None:
            self._begun = True
            self._stage.__enter__()
            self._report_input(self._stage)

    def returned(self, result: Any) -> None:
        """Take in what the coroutine returned."""
        if self._stage is not None and not self._stage._reported:
            self._stage.returned(result)

    def end(self, error: BaseException | None = None) -> None:
        """End the stage."""
        stage, self._stage = self._stage, None
        gone, self.gone = self.gone, None
        if gone is not None:
            gone.cancel()
        if stage is not None and self._begun:
            stage.__exit__(None if error is None else type(error), error, None)

    def give_up(self) -> None:
        """End the stage of a coroutine that nobody has any more."""
        stage, self._stage = self._stage, None
        if stage is not None and self._begun:
            stage._give_up()


def _steps(running: _Running, awaitable: Any) -> Generator[Any, Any, Any]:
    """Run a coroutine; from one step to the next no code of ours runs."""
    try:
        running.begin()
        result = yield from awaitable
        running.returned(result)
    except GeneratorExit as error:
        if not is_collecting():  # else it is gone, which is known without its finalizer
            running.end(error)
        raise
    except BaseException as error:
        awaitable.close()  # in strict mode it was not begun
        running.end(error)
        raise
    running.end()
    return result
