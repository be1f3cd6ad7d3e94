"""The decorator that makes a function a stage, and keeps its signature and its kind."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, Protocol, TypeVar, Unpack

from rop_otel.errors import UsageError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.results.scalars import as_count, plainly
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.arguments import Argument, Inputs, InputWhere, inputs_of
from rop_otel.tracing.stages.generating import Yielded
from rop_otel.tracing.stages.importlib_bootstrap import (
    AsyncSteps,
    Awaited,
    IterableAwaited,
    Monitored,
    Steps,
    monitored_call,
    monitored_function,
)
from rop_otel.tracing.stages.importlib_bootstrap.called import Run
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.spec import Described, Spec, make_spec

_RUNS_LATER: Final = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

Decorated = TypeVar("Decorated", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]")


class StageDecorator(Protocol):
    """Takes a function, and gives one of the same type."""

    def __call__(self, function: Decorated, /) -> Decorated:
        """Return the function, made a stage."""


def stage(
    kind: str,
    *,
    input_arg: InputWhere = None,
    top_k_arg: str | None = None,
    **said: Unpack[Described],
) -> StageDecorator:
    """Make a function a stage: what it returns, or yields, is what the stage returns.

    Works on functions and methods, synchronous and asynchronous, generators of both kinds, static and class methods,
    partials and other callables. Signature and type stay as they are.

    Args:
        kind: One of the contract's kinds (``vector``, ``rerank``, ``packing``, …) or a name of your own.
        input_arg: Parameter with the documents that it is handed; several parameters, whose lists are joined; or a
            callable that takes all arguments. None: it counts as handed what feeds it.
        top_k_arg: Parameter with the number of documents asked for, for the GenAI convention.
        said: See :class:`~rop_otel.tracing.stages.spec.Described`.

    Raises:
        UsageError: An argument cannot be used, or what is decorated is no function.
    """
    specify = functools.partial(make_spec, kind, **said)
    specify()  # what is wrong is said at the decorator, not at the function

    def decorate(function: Any, /) -> Any:
        if isinstance(function, staticmethod | classmethod):
            return type(function)(decorate(function.__func__))
        if not callable(function) or inspect.isclass(function):
            raise UsageError(f"stage({kind!r}) decorates a function, not {plainly(function)}")
        spec = specify(place=f"stage {kind!r}, {getattr(function, '__qualname__', kind)}")
        top_k = None if top_k_arg is None else Argument(function, top_k_arg, option="top_k_arg")
        return _wrapped(function, Calls(spec, inputs_of(function, input_arg), top_k))

    return decorate


class Calls:
    """What the calls of one decorated function have in common.

    Args:
        spec: What the decorator says.
        inputs: Gives the lists that a call hands over.
        top_k: Gives the number of documents that a call asks for.
    """

    __slots__ = ("_inputs", "_top_k", "hands_over", "spec")

    def __init__(self, spec: Spec, inputs: Inputs | None, top_k: Argument | None) -> None:
        self.spec = spec
        self.hands_over = inputs is not None or top_k is not None
        self._inputs = inputs
        self._top_k = top_k

    def report_input(self, stage: LiveStage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Report to a stage what its call hands over, before the function can change it."""
        if self._top_k is not None:
            stage._facts.top_k = as_count(self._top_k.of(args, kwargs))  # what is no number is ignored
        if self._inputs is not None and stage._wanted:
            try:
                lists = self._inputs(args, kwargs)
            except BaseException as error:  # noqa: BLE001 - the application's own callable
                raise_if_delivered(error)
                stage._facts.misuse(Problem.INPUT, f"input_arg raised {type(error).__name__}")
                return
            stage.input(*lists)


def _wrapped(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    if type(function) is FunctionType and not function.__code__.co_flags & _RUNS_LATER:
        return monitored_function(function, calls)
    call = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    for is_kind, run in (
        (inspect.isasyncgenfunction, _generator(AsyncSteps, calls)),
        (inspect.iscoroutinefunction, _coroutine(Awaited, calls)),
        (_is_awaited_generator, _coroutine(IterableAwaited, calls)),
        (inspect.isgeneratorfunction, _generator(Steps, calls)),
    ):
        if is_kind(function) or is_kind(call):
            return Monitored(function, run)
    return Monitored(function, monitored_call(calls))


def _is_awaited_generator(function: Callable[..., Any]) -> bool:
    """Return whether a function is one of ``types.coroutine``."""
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _coroutine(kind: type[Awaited], calls: Calls) -> Run:
    def run(runtime: Runtime, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        inner = function(*args, **kwargs)
        report = functools.partial(calls.report_input, args=args, kwargs=kwargs)
        return kind(inner, LiveStage(calls.spec, runtime), report)

    return run


def _generator(kind: type[Steps | AsyncSteps], calls: Calls) -> Run:
    def run(runtime: Runtime, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return kind(function(*args, **kwargs), Yielded(calls, runtime, args, kwargs))

    return run
