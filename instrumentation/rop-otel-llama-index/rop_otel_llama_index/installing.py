"""Puts the handlers, and the wrappers of what LlamaIndex makes no span of, in their places, and takes them away."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llama_index.core import async_utils
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined] # exported in a comment
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from opentelemetry.instrumentation.utils import unwrap
from wrapt import wrap_function_wrapper

from rop_otel.instrumenting import Settings, failure
from rop_otel_llama_index import citations
from rop_otel_llama_index.handlers import EventHandler, SpanHandler, begin
from rop_otel_llama_index.watched import carry


class Installed:
    """What watches LlamaIndex.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._spans = SpanHandler(settings)
        self._events = EventHandler()
        self._wrapped: list[tuple[object, str]] = []
        root = get_dispatcher()
        root.add_span_handler(self._spans)
        root.add_event_handler(self._events)
        self._wrap(BaseNodePostprocessor, "apostprocess_nodes", self._postprocess)
        self._wrap(CitationQueryEngine, "_create_citation_nodes", citations.remember)
        self._wrap(async_utils, "asyncio_run", carry)

    def remove(self) -> None:
        """Leave everything as it was."""
        self._spans.retire()
        root = get_dispatcher()
        root.event_handlers = [each for each in root.event_handlers if each is not self._events]
        for owner, name in self._wrapped:
            unwrap(owner, name)

    def _wrap(self, owner: object, name: str, wrapper: Callable[..., Any]) -> None:
        if name in vars(owner):  # older versions lack some
            wrap_function_wrapper(owner, name, wrapper)
            self._wrapped.append((owner, name))

    async def _postprocess(
        self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Watch a postprocessor that is awaited; LlamaIndex makes no span of a class's own way to do that."""
        try:
            arguments = inspect.signature(wrapped).bind(*args, **kwargs).arguments
            watched = begin(self._settings, "_postprocess_nodes", instance, arguments, {})
        except Exception:  # noqa: BLE001 - monitoring never raises into the application
            failure(f"LlamaIndex, the beginning of {type(instance).__name__}", "it could not be watched")
            watched = None
        if watched is None:
            return await wrapped(*args, **kwargs)
        try:
            result = await wrapped(*args, **kwargs)
        except BaseException as error:
            watched.finish(None, error)
            raise
        watched.finish(result)
        return result
