"""The decorator that makes a function a stage, and keeps its signature and its kind."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from rop_otel.errors import UsageError
from rop_otel.tracing.arguments import Argument, Inputs, InputWhere, inputs_of
from rop_otel.tracing.extracting import IdWhere, Where
from rop_otel.tracing.generating import AsyncSteps, Steps
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runtime import current
from rop_otel.tracing.scalars import plainly
from rop_otel.tracing.spec import Spec, make_spec
from rop_otel.tracing.stage import Stage

Decorated = TypeVar("Decorated", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]")


class StageDecorator(Protocol):
    """Takes a function, and gives one of the same type."""

    def __call__(self, function: Decorated, /) -> Decorated:
        """Return the function, made a stage."""


def stage(
    kind: str,
    *,
    name: str | None = None,
    source: bool = False,
    fed_by: str | Sequence[str] = (),
    input_arg: InputWhere = None,
    id: IdWhere = None,  # noqa: A002 - the word that users know
    score: Where = None,
    scope: Where = None,
    data_source: str | None = None,
    top_k_arg: str | None = None,
    query_form: str | None = None,
    implementation: str | None = None,
) -> StageDecorator:
    """Make a function a stage: what it returns, or yields, is what the stage returns.

    Works on functions and methods, synchronous and asynchronous, generators of both kinds, static and class methods,
    partials and other callables. Signature and type stay as they are.

    Args:
        kind: One of the contract's kinds (``vector``, ``rerank``, ``packing``, …) or a name of your own.
        name: Which one, where a pipeline has two of a kind.
        source: True for a kind of your own that takes no documents.
        fed_by: Names (else kinds) of the stages that feed it, where that is not the ones before it.
        input_arg: Parameter with the documents that it is handed; several, whose lists are joined; or a callable on
            all the arguments. None: it is taken to be handed what feeds it.
        id: Where a document has its ID: a name, dotted where nested; a callable on the document; a mapping or sequence
            from an index to an ID. None: the usual names.
        score: Where a document has its score, a name or a callable; None: the usual names.
        scope: Where a document says which container it is from, a name or a callable.
        data_source: Name of the index or database, for the GenAI convention.
        top_k_arg: Parameter with the number of documents asked for, for the GenAI convention.
        query_form: How a source's query is built: ``question``, ``rewrite``, ``title``, …
        implementation: What runs: the model or method.

    Raises:
        UsageError: An argument cannot be used, or what is decorated is no function.
    """
    specify = functools.partial(
        make_spec,
        kind,
        name=name,
        source=source,
        fed_by=fed_by,
        id=id,
        score=score,
        scope=scope,
        data_source=data_source,
        query_form=query_form,
        implementation=implementation,
    )
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

    def tell(self, stage: Stage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell a stage what its call hands over, before the function can change it."""
        if self._top_k is not None:
            stage._take_top_k(self._top_k.of(args, kwargs))
        if self._inputs is not None and stage._wanted:
            try:
                lists = self._inputs(args, kwargs)
            except Exception as error:  # noqa: BLE001 - the application's own callable
                stage._misuse(Mishap.INPUT, f"input_arg raised {type(error).__name__}")
                return
            stage.input(*lists)


def _wrapped(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    call = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    for is_kind, wrap in (
        (inspect.isasyncgenfunction, _async_generator),
        (inspect.iscoroutinefunction, _coroutine),
        (inspect.isgeneratorfunction, _generator),
    ):
        if is_kind(function) or is_kind(call):
            return wrap(function, calls)
    return _function(function, calls)


def _function(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    @functools.wraps(function)
    def monitored(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        if not runtime.enabled:
            return function(*args, **kwargs)
        with Stage(calls.spec, runtime) as stage:
            if calls.hands_over:
                calls.tell(stage, args, kwargs)
            result = function(*args, **kwargs)
            if not stage._told:
                stage.returned(result)
            return result

    return monitored


def _coroutine(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    @functools.wraps(function)
    async def monitored(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        if not runtime.enabled:
            return await function(*args, **kwargs)
        with Stage(calls.spec, runtime) as stage:
            if calls.hands_over:
                calls.tell(stage, args, kwargs)
            result = await function(*args, **kwargs)
            if not stage._told:
                stage.returned(result)
            return result

    return monitored


def _generator(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    @functools.wraps(function)
    def monitored(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        if not runtime.enabled:
            return (yield from function(*args, **kwargs))
        stage = Stage(calls.spec, runtime)
        stage._start_here()
        calls.tell(stage, args, kwargs)
        return (yield from Steps(stage, function(*args, **kwargs)))

    return monitored


def _async_generator(function: Callable[..., Any], calls: Calls) -> Callable[..., Any]:
    @functools.wraps(function)
    async def monitored(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        steps: Any = function(*args, **kwargs)
        if runtime.enabled:
            stage = Stage(calls.spec, runtime)
            stage._start_here()
            calls.tell(stage, args, kwargs)
            steps = AsyncSteps(stage, steps)
        step, value = steps.asend, None
        while True:
            try:
                item = await step(value)
            except StopAsyncIteration:
                return
            try:
                step, value = steps.asend, (yield item)
            except GeneratorExit:
                await steps.aclose()
                raise
            except BaseException as error:  # noqa: BLE001 - what the consumer throws in is the generator's to handle
                step, value = steps.athrow, error

    return monitored
