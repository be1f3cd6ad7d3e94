"""Puts what watches LlamaIndex in its place, also wrappers of what it makes no span of, and takes it away."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from llama_index.core import async_utils
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, function_tool
from llama_index.core.workflow import Workflow
from opentelemetry.instrumentation.utils import unwrap
from wrapt import wrap_function_wrapper

from rop_otel.instrumenting import Settings, failure, raise_if_delivered
from rop_otel_llama_index import carrying, citations, listening
from rop_otel_llama_index.handlers import Spans, begin
from rop_otel_llama_index.stores import Stores
from rop_otel_llama_index.watched import Watched
from rop_otel_llama_index.workflows import WorkflowRun, begin_run

_Wrapper: TypeAlias = Callable[..., Any]


class Installed:
    """What watches LlamaIndex.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stores = Stores(self._wrap_store)
        self._spans = Spans(settings, self._stores)
        self._wrapped: list[tuple[object, str]] = []
        listening.add(self._spans)
        self._wrap(BaseNodePostprocessor, "apostprocess_nodes", self._awaited("_postprocess_nodes"))
        for tool in (FunctionTool, QueryEngineTool, RetrieverTool):
            self._wrap(tool, "call", self._called("call"))
            self._wrap(tool, "acall", self._awaited("acall"))
        self._wrap(Workflow, "run", self._run)
        self._wrap(CitationQueryEngine, "_create_citation_nodes", citations.remember)
        self._stores.look()
        self._wrap(async_utils, "asyncio_run", carrying.coroutine)
        self._wrap(function_tool, "sync_to_async", carrying.function)

    def remove(self) -> None:
        """Leave everything as it was."""
        self._spans.retire()
        for owner, name in self._wrapped:
            unwrap(owner, name)

    def _wrap(self, owner: object, name: str, wrapper: _Wrapper) -> None:
        if name in vars(owner):  # older versions lack some
            wrap_function_wrapper(owner, name, wrapper)
            self._wrapped.append((owner, name))

    def _wrap_store(self, store: type) -> None:
        self._wrap(store, "query", self._called("search"))
        self._wrap(store, "aquery", self._awaited("search"))

    def _begin(
        self, method: str, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Watched | None:
        try:
            self._stores.look()
            arguments = inspect.signature(wrapped).bind(*args, **kwargs).arguments
            if method == "run":
                return begin_run(self._settings, instance, arguments)
            return begin(self._settings, method, instance, arguments, {})
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure(f"LlamaIndex, the beginning of {type(instance).__name__}", "it could not be watched")
            return None

    def _called(self, method: str) -> _Wrapper:
        """Return what watches a method."""

        def call(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            watched = self._begin(method, wrapped, instance, args, kwargs)
            if watched is None:
                return wrapped(*args, **kwargs)
            with watched:
                watched.result = wrapped(*args, **kwargs)
            return watched.result

        return call

    def _awaited(self, method: str) -> _Wrapper:
        """Return what watches a method that is awaited."""

        async def call(
            wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            watched = self._begin(method, wrapped, instance, args, kwargs)
            if watched is None:
                return await wrapped(*args, **kwargs)
            with watched:
                watched.result = await wrapped(*args, **kwargs)
            return watched.result

        return call

    def _run(self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Watch the run of a workflow, which goes on in tasks; its end is that of LlamaIndex's span of it."""
        run = self._begin("run", wrapped, instance, args, kwargs)
        if not isinstance(run, WorkflowRun):
            return wrapped(*args, **kwargs)
        try:
            return wrapped(*args, **kwargs)
        finally:
            run.leave()
