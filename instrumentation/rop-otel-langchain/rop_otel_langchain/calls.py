"""The topmost call of a chain that retrieves, as a handoff; what it returns, as the reader's answer."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers.base import BaseLLMOutputParser
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from opentelemetry.context import attach, create_key, get_current, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import topmost
from rop_otel_langchain.containing import contains_retrieval
from rop_otel_langchain.documents import are_documents
from rop_otel_langchain.patching import Function, Patches
from rop_otel_langchain.watching import Watching

_CALL: Final = create_key("rop_otel_langchain call")
_NO_CHAINS: Final = (BaseRetriever, BasePromptTemplate, BaseLanguageModel, BaseLLMOutputParser, BaseTool, BaseDocumentCompressor)
"""Runnables that are a part of a chain, never the chain."""

_ANSWERS: Final = ("answer", "result")
_SOURCES: Final = ("context", "source_documents")
"""Keys under which LangChain's own chains return the answer, and the documents that it is an answer from."""


def watch_calls(patches: Patches, watching: Watching) -> None:
    """Make a handoff of the topmost call of each chain that retrieves."""
    wraps = {"invoke": _invoke(watching), "ainvoke": _ainvoke(watching)}
    streams = {"stream": _stream(watching), "astream": _astream(watching)}
    patches.family(Runnable, {**wraps, **streams}, but=_NO_CHAINS)


class Call:
    """One topmost call, which may go on in pieces."""

    def __init__(self, watching: Watching, chain: Any, inputs: Any, config: Any) -> None:
        config = config if isinstance(config, Mapping) else {}
        bound = getattr(chain, "config", None)
        bound = bound if isinstance(bound, Mapping) else {}
        name = config.get("run_name") or bound.get("run_name") or chain.get_name()
        metadata = {**(bound.get("metadata") or {}), **(config.get("metadata") or {})}
        self._watching = watching
        self._topmost = topmost(watching.settings, name=name, inputs=inputs, metadata=metadata)

    def enter(self) -> None:
        """Open the handoff, without making it current."""
        before = get_current()
        outer = rop.current_handoff().id
        attach(set_value(_CALL, True, before))
        self._handoff = self._topmost.__enter__()
        self._opened = self._handoff.id != outer
        self._context = get_current()
        self._answer = ""
        self._sources: Any = None
        attach(before)

    def leave(self, error: BaseException | None = None) -> None:
        """End the handoff."""
        with self.current():
            if error is None and self._opened and self._answer and self._sources is not None:
                labels = self._watching.labels(self._sources)
                self._handoff.answered(self._answer, sources=self._sources, labels=labels)
            self._topmost.__exit__(None if error is None else type(error), error, None)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Be inside of the call."""
        before = get_current()
        attach(self._context)
        try:
            yield
        finally:
            attach(before)

    def take(self, result: Any) -> None:
        """Take in what the chain returns, or a piece of it, as far as it is an answer from documents."""
        if isinstance(result, Mapping):
            for key in _ANSWERS:
                self._answer += _text(result.get(key))
            for key in _SOURCES:
                if are_documents(result.get(key)):
                    self._sources = result[key]


def _text(answer: Any) -> str:
    answer = answer.content if isinstance(answer, BaseMessage) else answer
    return answer if isinstance(answer, str) else ""


def _opened(watching: Watching, chain: Any, inputs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call | None:
    """Return the call where it is a topmost one; None where one is under way, or nothing is retrieved."""
    if get_value(_CALL) is not None or not contains_retrieval(chain):
        return None
    return Call(watching, chain, inputs, args[0] if args else kwargs.get("config"))


def _invoke(watching: Watching) -> Callable[[Function], Function]:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def invoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
            call = _opened(watching, self, input, args, kwargs)
            if call is None:
                return original(self, input, *args, **kwargs)
            call.enter()
            error: BaseException | None = None
            try:
                with call.current():
                    result = original(self, input, *args, **kwargs)
                call.take(result)
                return result
            except BaseException as raised:
                error = raised
                raise
            finally:
                call.leave(error)

        return invoke

    return wrap


def _ainvoke(watching: Watching) -> Callable[[Function], Function]:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        async def ainvoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
            call = _opened(watching, self, input, args, kwargs)
            if call is None:
                return await original(self, input, *args, **kwargs)
            call.enter()
            error: BaseException | None = None
            try:
                with call.current():
                    result = await original(self, input, *args, **kwargs)
                call.take(result)
                return result
            except BaseException as raised:
                error = raised
                raise
            finally:
                call.leave(error)

        return ainvoke

    return wrap


def _stream(watching: Watching) -> Callable[[Function], Function]:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def stream(self: Any, input: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
            call = _opened(watching, self, input, args, kwargs)
            start = functools.partial(original, self, input, *args, **kwargs)
            return start() if call is None else _streamed(call, start)

        return stream

    return wrap


def _streamed(call: Call, start: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Give the pieces; the call is current while one is made, never while its consumer has it."""
    call.enter()
    error: BaseException | None = None
    pieces: Iterator[Any] = iter(())
    try:
        with call.current():
            pieces = iter(start())
        while True:
            with call.current():
                try:
                    piece = next(pieces)
                except StopIteration:
                    return
            call.take(piece)
            yield piece
    except GeneratorExit:
        raise
    except BaseException as raised:
        error = raised
        raise
    finally:
        with call.current():
            getattr(pieces, "close", tuple)()
        call.leave(error)


def _astream(watching: Watching) -> Callable[[Function], Function]:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def astream(self: Any, input: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002
            call = _opened(watching, self, input, args, kwargs)
            start = functools.partial(original, self, input, *args, **kwargs)
            return start() if call is None else _astreamed(call, start)

        return astream

    return wrap


async def _astreamed(call: Call, start: Callable[[], AsyncIterator[Any]]) -> AsyncIterator[Any]:
    call.enter()
    error: BaseException | None = None
    with call.current():
        pieces = start()
    try:
        while True:
            with call.current():
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
            call.take(piece)
            yield piece
    except GeneratorExit:
        raise
    except BaseException as raised:
        error = raised
        raise
    finally:
        if hasattr(pieces, "aclose"):
            with call.current():
                await pieces.aclose()
        call.leave(error)
