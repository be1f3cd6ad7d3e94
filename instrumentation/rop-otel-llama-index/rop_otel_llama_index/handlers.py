"""LlamaIndex's spans and events, which tell of each call of a part: an engine, a retriever, a tool.

Its spans begin and end in the context of the call, so a stage that begins with one is current inside of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow

import rop_otel as rop
from rop_otel.instrumenting import Settings, failure, insist, raise_if_delivered, retrieved_outside, topmost
from rop_otel_llama_index import kinds, listening
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


class Spans:
    """Begins and ends what is watched, with the spans of LlamaIndex.

    It is called after all handlers, since one that puts the context back by its token has to do so before.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[str, Watched] = {}
        self._retired = False

    def retire(self) -> None:
        """Watch no more, and leave LlamaIndex when what is watched now has ended."""
        self._retired = True
        if not self._open:
            listening.remove(self)

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        """Begin to watch a call, if it is one of ours."""
        if self._retired:
            return
        method = id_.partition("-")[0].rpartition(".")[2]
        try:
            began = begin(self._settings, method, instance, bound_args.arguments, tags or {})
            if began is not None:
                self._open[id_] = began
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure(f"LlamaIndex, the beginning of {method}", "it could not be watched")

    def span_exit(self, id_: str, *given: Any, result: Any | None = None, **others: Any) -> None:
        """Take in what a call returned."""
        self._end(id_, result=result)

    def span_drop(self, id_: str, *given: Any, err: BaseException | None = None, **others: Any) -> None:
        """Take in what a call raised."""
        self._end(id_, error=err or RuntimeError("the call was dropped"))

    def event(self, event: BaseEvent, **others: Any) -> None:
        """Take in what a language model is asked."""
        read = None if self._retired else _PROMPTS.get(type(event).__name__)
        watched = None if read is None else innermost()
        if read is None or watched is None:
            return
        try:
            read(watched, event)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure("LlamaIndex, a prompt", "it could not be watched")

    def _end(self, id_: str, *, result: Any = None, error: BaseException | None = None) -> None:
        watched = self._open.pop(id_, None)
        if watched is not None:
            insist(partial(watched.finish, result, error))
            if self._retired and not self._open:
                listening.remove(self)


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
