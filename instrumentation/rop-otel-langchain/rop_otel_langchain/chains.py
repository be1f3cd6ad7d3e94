"""Wraps the ways in which a chain is called: at once, as a stream, in a batch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import BaseLanguageModel
from langchain_core.output_parsers.base import BaseLLMOutputParser
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableWithFallbacks
from langchain_core.runnables.config import get_config_list
from langchain_core.tools import BaseTool

from rop_otel.instrumenting import (
    AsyncSteps,
    Begin,
    Function,
    Patches,
    Steps,
    Take,
    Wrap,
    current_context,
    no_matter,
    using_context,
)
from rop_otel_langchain.calls import Call
from rop_otel_langchain.carrying import batched, carrying, is_under_way, resumed
from rop_otel_langchain.containing import contains_retrieval, given
from rop_otel_langchain.documents import is_a
from rop_otel_langchain.functions import observe, remember
from rop_otel_langchain.nodes import in_node
from rop_otel_langchain.watching import Watching, never_raising

_PARTS: Final = (
    BaseRetriever,
    BasePromptTemplate,
    BaseLanguageModel,
    BaseLLMOutputParser,
    BaseTool,
    BaseDocumentCompressor,
)
"""What is a part of a chain and never the chain."""


_Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


def watch_chains(patches: Patches, watching: Watching) -> None:
    """Make a handoff of each topmost call that retrieves."""
    # The batch of the base class calls each input by itself, as these others do not.
    batches = {"batch": _batch(watching), "abatch": _abatch(watching)}
    patches.family(Runnable, batches, but=_PARTS, base_too=False)
    around = functools.partial(_calls, watching)
    calls = patches.pair(around, "invoke", "ainvoke")
    streams = {"stream": _streamed(watching, Steps, iter), "astream": _streamed(watching, AsyncSteps, aiter)}
    patches.family(Runnable, {**calls, **streams}, but=_PARTS)


@never_raising
def _is_topmost(watching: Watching) -> bool:
    """Return whether no other call is under way."""
    return watching.on and not is_under_way()


@never_raising
def _begun(
    watching: Watching, chain: Any, inputs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Call | None:
    """Return the call where it is a topmost one; None where one is under way."""
    if not _is_topmost(watching):
        return None
    config = args[1] if len(args) > 1 else kwargs.get("config")
    return Call(watching, chain, inputs, config, retrieves=contains_retrieval(chain))


@never_raising
def _node(watching: Watching, part: Any) -> Any:
    """Return the function of a graph's node, which LangGraph calls by itself; None for anything else."""
    if type(part).__name__ != "RunnableCallable" or not watching.on or not is_under_way():
        return None
    return part.func or part.afunc


@contextmanager
def _until_the_end(call: Call) -> Iterator[None]:
    """End a call with the block; a consumer that leaves a stream early is no error."""
    error: BaseException | None = None
    try:
        yield
    except GeneratorExit:
        raise
    except BaseException as raised:
        error = raised
        raise
    finally:
        call.end(error)


@contextmanager
def _as_call(
    watching: Watching, chain: Any, inputs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Take]:
    """Run a call as the topmost one, or as a part of that; gives what takes the call's result."""
    results: list[Any] = []
    call = _begun(watching, chain, inputs, args, kwargs)
    if call is not None:
        with _until_the_end(call):
            with call.current(), _instead(watching, chain):
                yield results.append
            call.take(results[0])
        return
    with resumed(args[1:], kwargs), in_node(watching, inputs, args[1:], kwargs), _instead(watching, chain):
        node = _node(watching, chain)
        if node is None:
            yield results.append
            return
        remember(watching, inputs)
        with watching.inside() as below:
            yield results.append
        observe(watching, node, inputs, results[0], below)


def _instead(watching: Watching, chain: Any) -> AbstractContextManager[object]:
    """Return a block in which it is known what is called where something fails, and whether this is."""
    fallback = watching.on and watching.falls_back(chain)
    instead = chain.fallbacks if is_a(chain, RunnableWithFallbacks) else ()
    return watching.inside(instead=instead, fallback=fallback) if instead or fallback else nullcontext()


def _calls(watching: Watching, original: Function) -> Begin:
    inputs = given(original)

    def block(chain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[Take]:
        return _as_call(watching, chain, inputs(args, kwargs), args, kwargs)

    return block


class _Streamed:
    """What follows a stream: its call is current while a piece is made, never while its consumer has it.

    Args:
        begin: Begins the call, with the first step; None where it is consumed inside of another call.
        start: Begins the stream.
        over: Makes an iterator of what that returns.
        around: Makes a block for each step, inside of the call.
    """

    def __init__(
        self,
        begin: Callable[[], Call | None],
        start: Callable[[], Any],
        over: Callable[[Any], Any],
        around: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._begin = begin
        self._around = around
        self._start = start
        self._over = over
        self._call: Call | None = None

    def begin(self) -> Any:
        """Begin the call, and return the stream."""
        self._call = self._begin()
        with self.step():
            return self._over(self._start())

    @contextmanager
    def step(self) -> Iterator[None]:
        """Be inside of the call."""
        with nullcontext() if self._call is None else self._call.current(), self._around():
            yield

    def add(self, piece: Any) -> None:
        """Take in a piece."""
        if self._call is not None:
            self._call.take(piece)

    def end(self, error: BaseException | None = None) -> None:
        """End the call; a consumer that leaves a stream early is no error."""
        if self._call is not None:
            self._call.end(None if isinstance(error, GeneratorExit) else error)


def _streamed(watching: Watching, steps: type[Steps | AsyncSteps], over: Callable[[Any], Any]) -> Wrap:
    def wrap(original: Function) -> Function:
        inputs = given(original)

        @functools.wraps(original)
        def stream(self: Any, *args: Any, **kwargs: Any) -> Any:
            falls_back = watching.on and is_a(self, RunnableWithFallbacks)
            if not falls_back and not _is_topmost(watching):
                return original(self, *args, **kwargs)
            begin = functools.partial(_begun, watching, self, inputs(args, kwargs), args, kwargs)
            around = functools.partial(_instead, watching, self)
            return steps(None, _Streamed(begin, functools.partial(original, self, *args, **kwargs), over, around))

        return stream

    return wrap


class _Batch:
    """Calls that run together, each of which is a handoff."""

    def __init__(self, watching: Watching, chain: Any, inputs: Sequence[Any], config: Any) -> None:
        configs = get_config_list(config, len(inputs))
        retrieves = contains_retrieval(chain)
        self.calls = [
            Call(watching, chain, each, given, retrieves=retrieves) for each, given in zip(inputs, configs, strict=True)
        ]
        self.configs = [carrying(given, call) for given, call in zip(configs, self.calls, strict=True)]

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Arguments:
        """Return the arguments of the batch with the configurations that carry its calls."""
        if len(args) > 1:
            return (args[0], self.configs, *args[2:]), kwargs
        return args, {**kwargs, "config": self.configs}

    def end(self, results: Any) -> None:
        """End each call with its result; a batch of the application's own may return anything."""
        known = results[: len(self.calls)] if isinstance(results, list) else []
        for call, result in zip_longest(self.calls, known):
            call.take(result)
            call.end(result if isinstance(result, BaseException) else None)

    def fail(self, error: BaseException) -> None:
        """End all calls where one failed."""
        for call in self.calls:
            call.end(error)


@never_raising
def _begun_batch(
    watching: Watching, chain: Any, inputs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> _Batch | None:
    if not inputs or not isinstance(inputs, list) or not _is_topmost(watching):
        return None
    return _Batch(watching, chain, inputs, args[1] if len(args) > 1 else kwargs.get("config"))


@contextmanager
def _as_batch(
    watching: Watching, original: Function, chain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[_Arguments, Take]]:
    """Run a batch whose questions are a call each; gives its arguments, and what takes its results."""
    begun = None
    if "config" in inspect.signature(original).parameters:  # what runs finds its call in its configuration
        begun = _begun_batch(watching, chain, given(original)(args, kwargs), args, kwargs)
    if begun is None:
        yield (args, kwargs), no_matter
        return
    results: list[Any] = []
    try:
        with using_context(batched(current_context())):
            yield begun.arguments(args, kwargs), results.append
    except BaseException as error:
        begun.fail(error)
        raise
    begun.end(results[0])


def _batch(watching: Watching) -> Wrap:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def batch(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _as_batch(watching, original, self, args, kwargs) as ((args, kwargs), take):
                results = original(self, *args, **kwargs)
                take(results)
                return results

        return batch

    return wrap


def _abatch(watching: Watching) -> Wrap:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        async def abatch(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _as_batch(watching, original, self, args, kwargs) as ((args, kwargs), take):
                results = await original(self, *args, **kwargs)
                take(results)
                return results

        return abatch

    return wrap
