"""LlamaIndex's spans and events, which describe each call of a part: an engine, a retriever, a tool.

Its spans begin and end in the context of the call, so a stage that begins with one is current inside of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.workflow import Workflow

from rop_otel.instrumenting import Kind, Settings, guarded, insist, stage_of, topmost
from rop_otel_llama_index import kinds, listening
from rop_otel_llama_index.by_hand import ByHand, call_by_hand
from rop_otel_llama_index.gathering import Engine, ToolCall
from rop_otel_llama_index.nodes import words
from rop_otel_llama_index.prompts import Prompts
from rop_otel_llama_index.stores import Search
from rop_otel_llama_index.synthesis import Synthesis
from rop_otel_llama_index.watched import Listing, Watched, at_hand, innermost
from rop_otel_llama_index.workflows import WorkflowRun

_Arguments = Mapping[str, Any]
_Begins = Callable[[Settings, Any, _Arguments, Mapping[str, object]], Watched | None]


def begin(
    settings: Settings,
    method: str,
    instance: Any,
    arguments: _Arguments,
    tags: Mapping[str, object],
    parent: str | None = None,
) -> Watched | None:
    """Return what is watched from here on; None where this call is none that is.

    Args:
        settings: Of the instrumentation.
        method: The method that is called.
        instance: Of which.
        arguments: What it is given.
        tags: What the application said about the call.
        parent: LlamaIndex's ID of the span around it: of the step of a workflow, perhaps.
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
    if outer is None:
        call_by_hand(settings)
    level = outer or at_hand()
    if level is not None and level.gathering is not None and level.rounds is not None:
        if found[1] not in (_retrieve, _search):
            level.gathering.use()
        elif level.gathering.again(instance, (parent or "").partition("-")[0], parent):
            level.inside = next(level.rounds)
    return found[1](settings, instance, arguments, tags)


def _query(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    if isinstance(instance, SimpleChatEngine):
        return None  # it retrieves nothing
    outer = innermost()
    call = None if outer is None or not kinds.asks_several_times(outer.instance) else outer.call
    return Engine(
        instance,
        settings=settings,
        beside=(*_texts([arguments]),),
        begins=_topmost(settings, instance, arguments, tags),
        number=None if call is None else next(call.rounds),
        stage=stage_of(settings, kinds.custom(instance), instance)
        if outer is not None and isinstance(outer.instance, BaseRetriever)
        else None,
    )


def _retrieve(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    begins = _topmost(settings, instance, arguments, tags)
    kind = kinds.retriever(instance, settings)
    if kind is None:
        return Watched(instance, begins=begins)
    return Listing(instance, stage=stage_of(settings, kind, instance), begins=begins)


def _search(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    outer = innermost()
    if outer is None or outer.call is None or kinds.searches(outer.instance):
        return None
    if settings.id_keys and not instance.stores_text:
        return None  # it gives IDs alone, which are not those that the user means
    kind = kinds.store(instance, next(iter(arguments.values()), None))
    return Search(instance, stage=stage_of(settings, kind, instance))


def _postprocess(
    settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]
) -> Watched | None:
    kind = kinds.postprocessor(instance, settings)
    if kind is None:
        return None
    nodes = _nodes(arguments, 0)
    return Listing(instance, stage=stage_of(settings, Kind(kind), instance, input=nodes), handed=nodes)


def _synthesize(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    return Synthesis(
        instance,
        nodes=_nodes(arguments, 1),
        query=next(iter(arguments.values()), None),
        answers=arguments.get("additional_source_nodes") is not None,
        settings=settings,
    )


def _tool(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    outer = innermost()
    return None if outer is None or outer.call is None else ToolCall(instance, settings)


def _run(settings: Settings, instance: Any, arguments: _Arguments, tags: Mapping[str, object]) -> Watched | None:
    return None  # it belongs to a call around it


def _texts(values: Iterable[Any]) -> Iterator[object]:
    """Yield what is asked, and the messages of a history."""
    for value in values:
        if isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, list | tuple):
            yield from (each for each in value if hasattr(each, "role"))
        else:
            yield value


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
    "search": (BasePydanticVectorStore, _search),
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
        self._patches = listening.patched(self)

    def retire(self) -> None:
        """Watch no more, and leave LlamaIndex when what is watched now has ended."""
        self._retired = True
        if not self._open:
            self._patches.undo()

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
        with guarded(f"LlamaIndex, the beginning of {method}"):
            began = begin(self._settings, method, instance, bound_args.arguments, tags or {}, parent_id)
            if began is not None:
                self._open[id_] = began

    def span_exit(self, id_: str, *given: Any, result: Any | None = None, **others: Any) -> None:
        """Take in what a call returned."""
        self._end(id_, result=result)

    def span_drop(self, id_: str, *given: Any, err: BaseException | None = None, **others: Any) -> None:
        """Take in what a call raised."""
        self._end(id_, error=err or RuntimeError("the call was dropped"))

    def event(self, event: BaseEvent, **others: Any) -> None:
        """Take in what a language model is asked, and what it answers."""
        read = None if self._retired else _EVENTS.get(type(event).__name__)
        watched = None if read is None else innermost() or at_hand()
        if read is None or watched is None:
            return
        with guarded("LlamaIndex, a prompt"):
            read(watched, event)

    def _end(self, id_: str, *, result: Any = None, error: BaseException | None = None) -> None:
        watched = self._open.pop(id_, None)
        if watched is not None:
            insist(partial(watched.finish, result, error))
            if self._retired and not self._open:
                self._patches.undo()


def _asked(watched: Watched | ByHand, event: Any) -> None:
    prompts = _prompts(watched)
    if prompts is not None:
        prompts.asked(_messages(event))


def _answered(watched: Watched | ByHand, event: Any) -> None:
    prompts = _prompts(watched)
    if prompts is not None:
        prompts.answered(_messages(event), words(event.response))


def _predict(watched: Watched | ByHand, event: Any) -> None:
    prompts = _prompts(watched)
    if prompts is not None:
        prompts.filled_in(event.template, event.template_args or {})


def _messages(event: Any) -> tuple[str, ...]:
    """Return the texts of what a model is asked."""
    if hasattr(event, "prompt"):
        return (event.prompt,)
    return tuple(str(message.content or "") for message in event.messages)


def _prompts(watched: Watched | ByHand) -> Prompts | None:
    """Return where it is taken in what models are asked here; None where nobody wants to know."""
    if isinstance(watched, Synthesis):
        return watched.prompts
    if watched.gathering is None:
        return None
    watched.gathering.use()
    return watched.gathering.prompts if watched.gathering.nodes else None


_EVENTS: Final[Mapping[str, Callable[[Watched | ByHand, Any], None]]] = {
    "LLMChatStartEvent": _asked,
    "LLMChatEndEvent": _answered,
    "LLMCompletionStartEvent": _asked,
    "LLMCompletionEndEvent": _answered,
    "LLMPredictStartEvent": _predict,
    "LLMStructuredPredictStartEvent": _predict,
}
