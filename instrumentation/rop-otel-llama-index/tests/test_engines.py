"""Which call is the handoff, where its selection comes from, and engines that ask others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import QueryBundle
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.instrumentation.dispatcher import instrument_tags  # type: ignore[attr-defined]
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from llama_index_parts import BM25Retriever, Found, KeepFirst, Model, Watch, engine, memory
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel.config import Config


class Own(CustomQueryEngine):
    """An engine of the application's own."""

    retriever: Any

    def custom_query(self, query_str: str) -> str:
        """Answer with the number of nodes."""
        return str(len(self.retriever.retrieve(query_str)))


class Questions(BaseQuestionGenerator):
    """Asks two tools one question each."""

    def generate(self, tools: Any, query: QueryBundle) -> list[SubQuestion]:
        """Ask."""
        return [SubQuestion(sub_question=f"what of {tool.name}?", tool_name=tool.name) for tool in tools]

    async def agenerate(self, tools: Any, query: QueryBundle) -> list[SubQuestion]:
        """Ask."""
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


class First(BaseSelector):
    """Chooses the first tool."""

    def _select(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=0, reason="it is the first")])

    async def _aselect(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


def tools() -> list[QueryEngineTool]:
    """Return two engines as tools."""
    return [
        QueryEngineTool(
            query_engine=engine(BM25Retriever(raw, "n3"), KeepFirst(count=1)),
            metadata=ToolMetadata(name=raw, description=raw),
        )
        for raw in ("n1", "n2")
    ]


def test_the_topmost_call_is_the_handoff(watch: Watch) -> None:
    """An engine's query is one handoff, called after the engine; the selector is asked once, with the question."""
    asked: list[object] = []

    def select(question: object) -> str:
        asked.append(question)
        return "n1"

    watch(selected_by=select)
    engine(BM25Retriever("n1", "n2")).query(QueryBundle("which one?"))
    assert (watch.only.handoff_name, watch.only.verdict, asked) == ("RetrieverQueryEngine", "PASS", ["which one?"])


def test_name_and_cutoff_are_settings(watch: Watch) -> None:
    """A handoff has the name that is asked for, and counts as many nodes."""
    watch(handoff="docs-qa", cutoff=1, selected_by=lambda question: "n2")
    engine(BM25Retriever("n1", "n2")).query("?")
    assert (watch.only.handoff_name, watch.only.drop_cause) == ("docs-qa", "below_cutoff")


def test_the_selection_comes_from_tags(watch: Watch) -> None:
    """What the application selected may be a tag of LlamaIndex's own instrumentation."""
    watch(selected_key="selected")
    with instrument_tags({"selected": "n2"}):
        engine(BM25Retriever("n1", "n2")).query("?")
    assert (watch.only.verdict, watch.only.selected_rank) == ("PASS", 2)


def test_without_a_selection_there_is_no_verdict_on_one(watch: Watch) -> None:
    """Nothing selected is no failure."""
    watch()
    engine(BM25Retriever("n1")).query("?")
    assert watch.only.verdict == "NOT_APPLICABLE"


def test_a_handoff_of_the_applications_own_stays(watch: Watch) -> None:
    """Where the application opened a handoff, calls are stages of it, and its selection stands."""
    watch(selected_by=lambda question: "n1")
    with rop.handoff("mine", selected="n9") as handoff:
        engine(BM25Retriever("n1")).query("?")
        assert handoff.assessment.verdict is None
    assert (watch.only.handoff_name, watch.only.verdict) == ("mine", "FAIL")


def test_an_engine_of_the_applications_own(watch: Watch) -> None:
    """A custom query engine is a topmost call like any other."""
    watch(selected_by=lambda question: "n1")
    assert str(Own(retriever=BM25Retriever("n1")).query("?")) == "1"
    assert (watch.only.handoff_name, watch.only.verdict, watch.kinds()) == ("Own", "PASS", ["lexical"])


@pytest.mark.parametrize("way", ["in turn", "at once", "awaited"])
def test_sub_questions_are_rounds(watch: Watch, way: str, loop: Any) -> None:
    """Each sub-question is a round with its own stages; what the rounds were shown is the shown list."""
    watch(selected_by=lambda question: "n2")
    asking = SubQuestionQueryEngine.from_defaults(
        tools(), llm=Model(), question_gen=Questions(), use_async=way == "at once", verbose=False
    )
    if way == "awaited":
        loop.run_until_complete(asking.aquery("?"))
    else:
        asking.query("?")
    assert watch.only.handoff_name == "SubQuestionQueryEngine"
    assert watch.only.verdict == "PASS"
    assert sorted((stage.round or 0, stage.kind) for stage in watch.stages) == [
        (number, kind) for number in (1, 2) for kind in ("KeepFirst", "lexical", "packing")
    ]
    assert set(watch.only.shown.ids) == {"n1", "n2"}


def test_rounds_within_rounds_have_numbers_of_their_own(watch: Watch) -> None:
    """An engine that asks one that asks others: no two of them share a round."""
    watch(selected_by=lambda question: "n4")
    inner = SubQuestionQueryEngine.from_defaults(
        tools(), llm=Model(), question_gen=Questions(), use_async=False, verbose=False
    )
    both = [
        QueryEngineTool(query_engine=made, metadata=ToolMetadata(name=name, description=name))
        for name, made in (("inner", inner), ("other", engine(BM25Retriever("n4"))))
    ]
    asking = SubQuestionQueryEngine.from_defaults(
        both, llm=Model(), question_gen=Questions(), use_async=False, verbose=False
    )
    asking.query("?")
    assert [(stage.round, stage.returned) for stage in watch.stages if stage.kind == "packing"] == [
        (2, ("n1",)),
        (3, ("n2",)),
        (4, ("n4",)),
    ]
    assert watch.only.verdict == "PASS"


def test_a_router_asks_one(watch: Watch) -> None:
    """A router's engine belongs to the router's handoff."""
    watch(selected_by=lambda question: "n3")
    RouterQueryEngine(First(), tools(), llm=Model()).query("?")
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("RouterQueryEngine", "KeepFirst")


@pytest.mark.parametrize("awaited", [False, True])
async def test_chat(watch: Watch, awaited: bool) -> None:
    """A turn of a chat is a handoff."""
    watch(selected_by=lambda message: "n1")
    chat = ContextChatEngine.from_defaults(BM25Retriever("n1"), llm=Model(), memory=memory())
    for message in ("which one?", "and now?"):
        answer = await chat.achat(message) if awaited else chat.chat(message)
        assert str(answer) == "See [1]."
    assert [assessment.handoff_name for assessment in watch.assessments] == ["ContextChatEngine"] * 2
    assert [[stage.kind for stage in record.stages] for record in watch.records] == [
        ["lexical", "packing", "reader"]
    ] * 2


def test_a_chat_that_asks_an_engine(watch: Watch) -> None:
    """The engine below a chat is no handoff of its own."""
    watch(selected_by=lambda message: "n1")
    chat = CondenseQuestionChatEngine.from_defaults(engine(BM25Retriever("n1")), llm=Model(), memory=memory())
    chat.chat("which one?", chat_history=[ChatMessage(content="hello", role="user")])
    assert (watch.only.handoff_name, watch.kinds()) == ("CondenseQuestionChatEngine", ["lexical", "packing"])


def test_a_chat_without_retrieval_is_no_handoff(watch: Watch) -> None:
    """A chat that retrieves nothing has nothing to lose."""
    watch(selected_by=lambda message: "n1")
    SimpleChatEngine.from_defaults(llm=Model(), memory=memory()).chat("hello")
    assert watch.assessments == []


def test_threads_have_handoffs_of_their_own(watch: Watch) -> None:
    """Queries in threads are handoffs of their own, and never mix."""
    watch(selected_by=lambda question: question)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda raw: engine(BM25Retriever(raw, "n6")).query(raw), ["n1", "n2", "n3", "n4"] * 5))
    assert [assessment.verdict for assessment in watch.assessments] == ["PASS"] * 20
    assert {len(record.stages) for record in watch.records} == {3}


def test_a_thread_that_carries_the_context(watch: Watch) -> None:
    """A retriever in a thread belongs to the handoff whose context is carried there."""
    watch()
    with ThreadPoolExecutor(1) as pool, rop.handoff("parallel", selected="n1"):
        pool.submit(rop.carry_context(Found("n1").retrieve), "?").result()
    assert (watch.only.verdict, watch.kinds()) == ("PASS", ["retriever"])


def test_switched_off(watch: Watch) -> None:
    """Switched off, nothing is watched and everything works."""
    watch(Config(enabled=False))
    assert str(engine(BM25Retriever("n1")).query("?")) == "See [1]."
    assert watch.records == []


def test_an_engine_that_raises_is_an_error_on_its_span(watch: Watch) -> None:
    """The spans of a handoff nest as the calls do, and say what was raised."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    watch(tracer=provider.get_tracer("tests"))
    with pytest.raises(ConnectionError):
        engine(Found(found=ConnectionError("no index"))).query("?")
    stage, handoff = exporter.get_finished_spans()
    assert (stage.status.description, handoff.status.description) == ("ConnectionError", "ConnectionError")
    assert stage.parent is not None
    assert stage.parent.span_id == handoff.context.span_id
