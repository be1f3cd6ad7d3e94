"""Streams of the frameworks that are left half-way, in a reference cycle that only the collector frees."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before Haystack is imported

from haystack import Document as HaystackDocument
from haystack import Pipeline, component
from haystack.components.rankers import LostInTheMiddleRanker
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableGenerator
from llama_index.core.base.base_retriever import BaseRetriever as LlamaRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from rop_otel_haystack import HaystackInstrumentor
from rop_otel_langchain import LangChainInstrumentor
from rop_otel_llama_index import LlamaIndexInstrumentor

from tests.safety.left_halfway import HITS, Kept


class Notes(BaseRetriever):
    """Finds the same notes for every question."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(hit, id=hit) for hit in HITS]


class Nodes(LlamaRetriever):
    """Finds the same nodes for every question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(id_=hit, text=hit), score=1.0) for hit in HITS]


@component
class NotesRetriever:
    """Finds the same documents for every question."""

    @component.output_types(documents=list[HaystackDocument])
    def run(self, query: str) -> dict[str, Any]:
        """Find them."""
        return {"documents": [HaystackDocument(id=hit, content=hit) for hit in HITS]}


def _spoken(given: Iterator[list[Document]]) -> Iterator[str]:
    for documents in given:
        yield from (document.page_content for document in documents)


async def _spoken_later(given: AsyncIterator[list[Document]]) -> AsyncIterator[str]:
    async for documents in given:
        for document in documents:
            yield document.page_content


def _pipeline() -> Any:
    pipeline = Pipeline()
    pipeline.add_component("notes", NotesRetriever())
    pipeline.add_component("order", LostInTheMiddleRanker())
    pipeline.connect("notes.documents", "order.documents")
    return pipeline


def _first(stream: Any) -> None:
    next(iter(stream))
    Kept(stream)


def _first_awaited(start: Callable[[], Any]) -> None:
    async def main() -> None:
        stream = start()
        await anext(stream)
        Kept(stream)

    asyncio.run(main())


def instrumented() -> tuple[list[Callable[[], None]], list[Callable[[], None]]]:
    """Watch the frameworks, and return requests that leave a stream of each, and those of them that take long."""
    for each in (LangChainInstrumentor, LlamaIndexInstrumentor, HaystackInstrumentor):
        each().instrument()
    chain: Runnable[str, str] = Notes() | RunnableGenerator(_spoken, atransform=_spoken_later)
    engine = RetrieverQueryEngine.from_args(Nodes(), llm=MockLLM(max_tokens=8), streaming=True)
    pipeline = _pipeline()
    return (
        [lambda: _first(chain.stream("?"))],
        [
            lambda: _first(engine.query("?").response_gen),  # type: ignore[union-attr] # it streams
            lambda: _first_awaited(lambda: chain.astream("?")),
            lambda: _first_awaited(lambda: pipeline.run_async_generator({"notes": {"query": "?"}})),
        ],
    )
