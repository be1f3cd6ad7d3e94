"""The same with the instrumentation packages: a mark in all that an application puts into a framework."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before Haystack is imported
pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")
pytest.importorskip("haystack")

from haystack import Document as HaystackDocument
from haystack import Pipeline, component
from haystack.components.builders import PromptBuilder
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever as LlamaRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from rop_otel_haystack import HaystackInstrumentor
from rop_otel_langchain import LangChainInstrumentor
from rop_otel_llama_index import LlamaIndexInstrumentor

from tests.safety.recorded import Recorded
from tests.safety.test_no_text import BLOB, LETTER, MARK, PASSAGE, QUESTION, RAW, BareError, hashing, quoting

Record = Callable[..., Recorded]
META = {"title": LETTER, "page": BLOB}


def raising(inputs: object) -> object:
    raise quoting()


SELECTORS = [lambda inputs: "d1", lambda inputs: PASSAGE, raising]
selecting = pytest.mark.parametrize("selected_by", SELECTORS, ids=["known", "text", "raises"])


@contextmanager
def instrumented(instrumentor: Any, **settings: Any) -> Iterator[None]:
    instrumentor.instrument(**settings)
    try:
        yield
    finally:
        instrumentor.uninstrument()


class Retriever(BaseRetriever):
    """Finds two pages, whose IDs may be text, or fails with text."""

    ids: tuple[Any, ...]
    broken: bool = False

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        if self.broken:
            raise quoting()
        return [Document(id=raw, page_content=PASSAGE, metadata={**META, "id": raw}) for raw in self.ids]


def chain(retriever: Retriever) -> Runnable[Any, Any]:
    def joined(pages: list[Document]) -> str:
        return "\n".join(page.page_content for page in pages)

    prompt = ChatPromptTemplate.from_template(f"{{context}} {{input}} {PASSAGE}")
    model = FakeListChatModel(responses=[f"{PASSAGE} [{PASSAGE}] [S1]"])
    return {"context": retriever | RunnableLambda(joined), "input": RunnablePassthrough()} | prompt | model


@hashing
@selecting
def test_langchain(record: Record, key: str | None, selected_by: Any) -> None:
    """Of pages, prompts, answers, metadata, tags and exceptions of LangChain nothing leaves but IDs."""
    recorded = record(hash_key=key)
    config: Any = {"metadata": {"user": PASSAGE, "selected": LETTER}, "tags": [PASSAGE], "run_name": PASSAGE}
    with instrumented(LangChainInstrumentor(), selected_by=selected_by):
        for retriever in (
            Retriever(ids=("d1", "d2")),
            Retriever(ids=(PASSAGE, LETTER), name=PASSAGE, tags=[PASSAGE]),
            Retriever(ids=("d1",), broken=True),
        ):
            with suppress(BareError):
                chain(retriever).invoke(QUESTION, config)
            with suppress(BareError):
                asyncio.run(chain(retriever).ainvoke(QUESTION, config))
            with suppress(BareError):
                list(chain(retriever).stream(QUESTION, config))
    assert recorded.places_of(MARK) == []
    assert recorded.places_of("retriever")


class Nodes(LlamaRetriever):
    """Finds nodes, whose IDs may be text, or fails with text."""

    def __init__(self, *ids: str, broken: bool = False) -> None:
        super().__init__()
        self.ids, self.broken = ids, broken

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.broken:
            raise quoting()
        nodes = [TextNode(id_=raw, text=PASSAGE, metadata=META) for raw in self.ids]
        return [NodeWithScore(node=node, score=0.5) for node in nodes]


@hashing
@selecting
def test_llama_index(record: Record, key: str | None, selected_by: Any) -> None:
    """Of nodes, prompts, answers, metadata and exceptions of LlamaIndex nothing leaves but IDs."""
    recorded = record(hash_key=key)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with instrumented(LlamaIndexInstrumentor(), selected_by=selected_by):
        for retriever in (Nodes("d1", "d2"), Nodes(PASSAGE, LETTER), Nodes("d1", broken=True)):
            engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(max_tokens=256))
            with suppress(BareError):
                engine.query(QUESTION)
            with suppress(BareError):
                loop.run_until_complete(engine.aquery(QUESTION))
    asyncio.set_event_loop(None)
    loop.close()
    assert recorded.places_of(MARK) == []
    assert recorded.places_of("retriever")


@component
class Finder:
    """Finds two documents, whose IDs may be text, or fails with text."""

    def __init__(self, *ids: str, broken: bool = False) -> None:
        self.ids, self.broken = ids, broken

    @component.output_types(documents=list[HaystackDocument])
    def run(self, query: str) -> dict[str, Any]:
        """Find."""
        if self.broken:
            raise quoting()
        return {"documents": [HaystackDocument(id=raw, content=PASSAGE, meta=META) for raw in self.ids]}


@component
class Reply:
    """Answers with text."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """Answer."""
        return {"replies": [f"{PASSAGE} [{LETTER}] [1]"]}


def pipeline(*ids: str, broken: bool = False) -> Pipeline:
    made = Pipeline(metadata={"about": PASSAGE})
    made.add_component("retriever", Finder(*ids, broken=broken))
    template = "{% for page in documents %}{{ page.content }}{% endfor %}{{ query }}"
    made.add_component("prompt", PromptBuilder(template, required_variables="*"))
    made.add_component("reply", Reply())
    made.connect("retriever.documents", "prompt.documents")
    made.connect("prompt", "reply")
    return made


@hashing
@selecting
def test_haystack(record: Record, key: str | None, selected_by: Any) -> None:
    """Of documents, prompts, answers, metadata and exceptions of Haystack nothing leaves but IDs."""
    recorded = record(hash_key=key)
    with instrumented(HaystackInstrumentor(), selected_by=selected_by, stages={"Finder": "vector"}):
        for made in (pipeline("d1", "d2"), pipeline(PASSAGE, LETTER), pipeline("d1", broken=True)):
            with suppress(Exception):  # Haystack's own, around the component's
                made.run({"retriever": {"query": QUESTION}, "prompt": {"query": PASSAGE}})
    assert recorded.places_of(MARK) == []
    assert recorded.places_of("vector")


def test_raw_ids_of_frameworks_stay_inside(record: Record) -> None:
    """With a key no ID of a framework's documents leaves as it is, nor a selection."""
    recorded = record(hash_key="secret")
    ids = (f"{RAW}-1", f"{RAW}-2")
    settings: dict[str, Any] = {"selected_by": lambda inputs: [ids[1], f"{RAW}-3"], "id_keys": ("id",)}
    with instrumented(LangChainInstrumentor(), **settings):
        chain(Retriever(ids=ids)).invoke(QUESTION)
    with instrumented(LlamaIndexInstrumentor(), **settings):
        RetrieverQueryEngine.from_args(Nodes(*ids), llm=MockLLM(max_tokens=256)).query(QUESTION)
    with instrumented(HaystackInstrumentor(), **settings, stages={"Finder": "vector"}):
        pipeline(*ids).run({"retriever": {"query": QUESTION}, "prompt": {"query": PASSAGE}})
    assert recorded.places_of(RAW) == []
    assert len([span for span in recorded.spans.get_finished_spans() if span.name.startswith("handoff")]) == 3
