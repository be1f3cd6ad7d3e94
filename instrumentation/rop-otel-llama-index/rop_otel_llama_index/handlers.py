"""Handlers of LlamaIndex's spans and events, which tell of each call of a part: an engine, a retriever, a tool.

Its spans begin and end in the context of the call, so a stage that begins with one is current inside of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined] # exported in a comment
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow
from pydantic import PrivateAttr

import rop_otel as rop
from rop_otel.instrumenting import Settings, failure, retrieved_outside, topmost
from rop_otel_llama_index import kinds
from rop_otel_llama_index.gathering import Engine, ToolCall
from rop_otel_llama_index.synthesis import Synthesis
from rop_otel_llama_index.watched import Listing, Watched, innermost
from rop_otel_llama_index.workflows import WorkflowRun

_Arguments = Mapping[str, Any]
_Begins = Callable[[Settings, Any, _Arguments, Mapping[str, object]], Watched | None]


def begin(
    settings: Settings, method: str, instance: Any, arguments: _Arguments, tags: Mapping[str, object]
) -> Watched | None:
    """Return what is watched from here on; None where this call is none that is.

    Args:
        settings: Of the instrumentation.
        method: The method that is called.
        instance: Of which.
        arguments: What it is given.
        tags: What the application said about the call.
    """
    found = _METHODS.get(method)
    if found is None or not isinstance(instance, found[0]):
        return None
    outer = innermost()
    if outer is not None and outer.instance is instance:
        # A method that calls the one that it extends is one call; the run of a workflow ends with its span.
        return outer if isinstance(outer, WorkflowRun) else None
    if isinstance(outer, WorkflowRun):
        outer.start()
    return found[1](settings, instance, arguments, tags)


def _query(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    if isinstance(instance, SimpleChatEngine):
        return None  # it retrieves nothing
    outer = innermost()
    call = None if outer is None or not kinds.asks_several_times(outer.instance) else outer.call
    block = None if call is None else rop.using_round(next(call.rounds))
    return Engine(instance, settings=settings, begins=_topmost(settings, instance, arguments, tags), block=block)


def _retrieve(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    begins = _topmost(settings, instance, arguments, tags)
    kind = kinds.retriever(instance, BaseRetriever, settings)
    if kind is None:
        return Watched(instance, begins=begins)
    stage = rop.using_stage(
        kind.kind, name=kind.name, source=kind.source, id=settings.id, implementation=type(instance).__name__
    )
    return Listing(instance, stage=stage, handed=False, begins=begins)


def _postprocess(
    settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]
) -> Watched | None:
    kind = kinds.postprocessor(instance, settings)
    if kind is None:
        return None
    _outside(instance)
    stage = rop.using_stage(
        kind,
        input=_nodes(arguments, 0),
        id=settings.id,
        implementation=type(instance).__name__,
    )
    return Listing(instance, stage=stage, handed=True)


def _synthesize(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    _outside(instance)
    return Synthesis(
        instance,
        nodes=_nodes(arguments, 1),
        answers=arguments.get("additional_source_nodes") is not None,
        settings=settings,
    )


def _tool(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    outer = innermost()
    return None if outer is None or outer.call is None else ToolCall(instance, settings)


def _run(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    return None  # it belongs to a call around it


def _outside(instance: object) -> None:
    if innermost() is None:
        retrieved_outside("LlamaIndex", f"what {type(instance).__name__} is given was")


_METHODS: Final[Mapping[str, tuple[type, _Begins]]] = {
    "query": (BaseQueryEngine, _query),
    "aquery": (BaseQueryEngine, _query),
    "chat": (BaseChatEngine, _query),
    "achat": (BaseChatEngine, _query),
    "stream_chat": (BaseChatEngine, _query),
    "astream_chat": (BaseChatEngine, _query),
    "retrieve": (BaseRetriever, _retrieve),
    "aretrieve": (BaseRetriever, _retrieve),
    "_postprocess_nodes": (BaseNodePostprocessor, _postprocess),
    "synthesize": (BaseSynthesizer, _synthesize),
    "asynthesize": (BaseSynthesizer, _synthesize),
    "call": (BaseTool, _tool),
    "acall": (BaseTool, _tool),
    "run": (Workflow, _run),
}


def _topmost(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> topmost:
    asked = next(iter(arguments.values()), None)
    return topmost(
        settings, name=type(instance).__name__, inputs=getattr(asked, "query_str", asked), metadata=dict(tags)
    )


def _nodes(arguments: _Arguments, place: int) -> Any:
    return arguments["nodes"] if "nodes" in arguments else list(arguments.values())[place]


class SpanHandler(BaseSpanHandler[Any]):
    """Begins and ends what is watched, with the spans of LlamaIndex."""

    _settings: Settings = PrivateAttr()
    _retired: bool = PrivateAttr(default=False)

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    def retire(self) -> None:
        """Watch no more, and leave LlamaIndex when what is watched now has ended."""
        self._retired = True
        if not self.open_spans:
            self._leave()

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex asks for it."""
        return "RopSpanHandler"

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Begin to watch a call, if it is one of ours."""
        if self._retired:
            return None
        method = id_.partition("-")[0].rpartition(".")[2]
        try:
            began = begin(self._settings, method, instance, bound_args.arguments, tags or {})
            if began is not None:
                self._stay_last()
        except Exception:  # noqa: BLE001 - LlamaIndex would swallow it without a word
            failure(f"LlamaIndex, the beginning of {method}", "it could not be watched")
            return None
        return began

    def prepare_to_exit_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> Any:
        """Take in what a call returned."""
        return self._end(id_, result=result)

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> Any:
        """Take in what a call raised."""
        return self._end(id_, error=err or RuntimeError("the call was dropped"))

    def _end(self, id_: str, *, result: Any = None, error: BaseException | None = None) -> Watched | None:
        watched = cast("Watched | None", self.open_spans.get(id_))
        if watched is not None:
            watched.finish(result, error)
            if self._retired and len(self.open_spans) == 1:
                self._leave()
        return watched

    def _stay_last(self) -> None:
        """Move to the end of the handlers: one that puts the context back by its token has to do so before this one."""
        root = get_dispatcher()
        if root.span_handlers[-1] is not self:
            root.span_handlers = [*self._others(), self]

    def _leave(self) -> None:
        get_dispatcher().span_handlers = self._others()

    def _others(self) -> list[BaseSpanHandler[Any]]:
        return [each for each in get_dispatcher().span_handlers if each is not self]


class EventHandler(BaseEventHandler):
    """Takes in what language models are asked."""

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex asks for it."""
        return "RopEventHandler"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Take in an event."""
        read = _PROMPTS.get(type(event).__name__)
        watched = None if read is None else innermost()
        if read is None or watched is None:
            return
        try:
            read(watched, event)
        except Exception:  # noqa: BLE001 - LlamaIndex would swallow it without a word
            failure("LlamaIndex, a prompt", "it could not be watched")


def _completion(watched: Watched, event: Any) -> None:
    _prompted(watched, [event.prompt])


def _chat(watched: Watched, event: Any) -> None:
    _prompted(watched, [str(message.content or "") for message in event.messages])


def _prompted(watched: Watched, texts: list[str]) -> None:
    asked = watched if isinstance(watched, Synthesis) else watched.gathering
    if asked is not None:
        for text in texts:
            asked.prompted(text)


def _predict(watched: Watched, event: Any) -> None:
    if isinstance(watched, Synthesis):
        for text in _texts((event.template_args or {}).values()):
            watched.filled_in(text)


def _texts(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)


_PROMPTS: Final[Mapping[str, Callable[[Watched, Any], None]]] = {
    "LLMChatStartEvent": _chat,
    "LLMCompletionStartEvent": _completion,
    "LLMPredictStartEvent": _predict,
    "LLMStructuredPredictStartEvent": _predict,
}
