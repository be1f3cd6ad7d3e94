"""What the tests share: what was assessed, and small parts of LlamaIndex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core import MockEmbedding, QueryBundle, VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from opentelemetry.trace import Tracer
from rop_otel_llama_index import LlamaIndexInstrumentor

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.tracing.running import runtime

NODES = [TextNode(id_=f"n{number}", text=f"Note {number} is about subject {number}.") for number in range(1, 7)]


class Watch:
    """The instrumentor, and what came of it; a sink of assessments."""

    def __init__(self) -> None:
        self.records: list[HandoffRecord] = []
        self.assessments: list[rop.Assessment] = []
        self.diagnostics: list[str] = []

    def __call__(self, config: Config | None = None, *, tracer: Tracer | None = None, **settings: Any) -> None:
        """Instrument, and keep what is assessed from then on."""
        LlamaIndexInstrumentor().instrument(**settings)
        runtime.install(runtime.Runtime(config or Config(), tracer=tracer, sinks=(self,)))

    def assessed(self, record: HandoffRecord, assessment: rop.Assessment, *, seconds: float) -> None:
        """Keep one."""
        self.records.append(record)
        self.assessments.append(assessment)

    def noticed(self, notice: Any, *, where: str = "") -> None:
        """Keep where something went wrong."""
        self.diagnostics.append(f"{notice} {where}")

    @property
    def only(self) -> rop.Assessment:
        """The only handoff that there was."""
        (assessment,) = self.assessments
        return assessment

    @property
    def stages(self) -> list[StageRecord]:
        """Its stages, in the order in which they ended, without the reader."""
        (record,) = self.records
        return [stage for stage in record.stages if stage.kind != "reader"]

    @property
    def reader(self) -> StageRecord:
        """What its response attaches and cites."""
        (record,) = self.records
        (reader,) = [stage for stage in record.stages if stage.kind == "reader"]
        return reader

    def kinds(self) -> list[str]:
        """Their kinds."""
        return [stage.kind for stage in self.stages]


class Found(BaseRetriever):
    """Returns what it is told to."""

    def __init__(self, *ids: str, found: Any = None) -> None:
        super().__init__()
        self.found = scored(*ids) if found is None else found

    def _retrieve(self, query_bundle: QueryBundle) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found if isinstance(self.found, Iterator) else list(self.found)


class BM25Retriever(Found):
    """The same, under a name that says how it retrieves."""


class WordRerank(BaseNodePostprocessor):
    """Turns the list around, and keeps the first."""

    keep: int = 3

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[::-1][: self.keep]


class KeepFirst(BaseNodePostprocessor):
    """Keeps the first nodes."""

    count: int

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[: self.count]


class Model(CustomLLM):
    """Answers with what it is told to, token by token where it streams."""

    answer: str = "See [1]."
    window: int = 4096
    broken: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        """Its window."""
        return LLMMetadata(context_window=self.window, num_output=16)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        if self.broken:
            raise ConnectionError("no model")
        return CompletionResponse(text=self.answer)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Answer in pieces."""

        def pieces() -> CompletionResponseGen:
            text = ""
            for piece in self.answer.split(" "):
                text += piece + " "
                if self.broken:
                    raise ConnectionError("no model")
                yield CompletionResponse(text=text, delta=piece + " ")

        return pieces()


def node(raw: str) -> TextNode:
    """Return a node by its ID."""
    return next(each for each in NODES if each.node_id == raw)


def vector(top_k: int = 3, **arguments: Any) -> BaseRetriever:
    """Return a retriever of an index over all nodes; its embedding makes them all alike."""
    return VectorStoreIndex(NODES, embed_model=MockEmbedding(4)).as_retriever(similarity_top_k=top_k, **arguments)


def engine(
    retriever: BaseRetriever, *postprocessors: BaseNodePostprocessor, llm: CustomLLM | None = None, **arguments: Any
) -> RetrieverQueryEngine:
    """Return a query engine."""
    return RetrieverQueryEngine.from_args(
        retriever, llm=llm or Model(), node_postprocessors=list(postprocessors), **arguments
    )


def scored(*ids: str) -> list[NodeWithScore]:
    """Return nodes with scores that fall."""
    return [NodeWithScore(node=node(each), score=1.0 - place / 10) for place, each in enumerate(ids)]


def memory() -> ChatMemoryBuffer:
    """Return a chat's memory that is no database."""
    return ChatMemoryBuffer.from_defaults(token_limit=1000)
