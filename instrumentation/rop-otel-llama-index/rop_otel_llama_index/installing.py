"""Puts what watches LlamaIndex in its place, also wrappers of what it makes no span of, and takes it away."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from llama_index.core import async_utils
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, function_tool
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.workflow import Workflow

from rop_otel.instrumenting import Begin, Function, Patches, Settings
from rop_otel_llama_index import carrying, citations
from rop_otel_llama_index.handlers import Spans, begin
from rop_otel_llama_index.watched import Watched
from rop_otel_llama_index.workflows import begin_run

_AS: Final[Mapping[str, str]] = {"apostprocess_nodes": "_postprocess_nodes", "query": "search", "aquery": "search"}
"""As which method a call is watched, where that is another one."""


class Installed:
    """What watches LlamaIndex.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._patches = patches = Patches("LlamaIndex")
        self._spans = Spans(settings)
        patches.replace(BaseNodePostprocessor, "apostprocess_nodes", patches.awaited(self._around))
        for tool in (FunctionTool, QueryEngineTool, RetrieverTool):
            for name, wrap in patches.pair(self._around, "call", "acall").items():
                patches.replace(tool, name, wrap)
        patches.replace(Workflow, "run", patches.called(self._around))
        patches.replace(CitationQueryEngine, "_create_citation_nodes", citations.remembering)
        patches.family(BasePydanticVectorStore, patches.pair(self._around, "query", "aquery"))
        patches.replace(async_utils, "asyncio_run", carrying.coroutine)
        patches.replace(function_tool, "sync_to_async", carrying.function)

    def remove(self) -> None:
        """Leave everything as it was."""
        self._spans.retire()
        self._patches.undo()

    def _around(self, original: Function) -> Begin:
        """Return what begins to watch the calls of a method."""
        method = _AS.get(original.__name__, original.__name__)
        signature = inspect.signature(original)

        def begun(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Watched | None:
            _, *given = signature.bind(instance, *args, **kwargs).arguments.items()
            if method == "run":
                return begin_run(self._settings, instance, dict(given))
            return begin(self._settings, method, instance, dict(given), {})

        return begun
