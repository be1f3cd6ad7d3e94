"""What the tests share: the instrumentor on and off again, what was assessed, and a small pipeline."""

from __future__ import annotations

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before Haystack is imported

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rop_otel_haystack import HaystackInstrumentor

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.tracing.running import runtime

TEXTS = {
    "timeouts": "wait for a task and cancel it after a timeout",
    "queues": "a queue hands work from one task to another",
    "locks": "a lock lets one task in at a time",
    "gather": "gather runs each task and waits for all of them",
    "shield": "shield protects a task from a timeout",
    "runner": "a runner starts an event loop for a task",
}
TEMPLATE = "{% for document in documents %}[{{ loop.index }}] {{ document.content }}\n{% endfor %}{{ query }}"
QUERY = "task after a timeout"


class Kept:
    """A sink that keeps what was assessed."""

    def __init__(self) -> None:
        self.assessments: list[rop.Assessment] = []
        self.records: list[Any] = []

    def assessed(self, record: Any, assessment: rop.Assessment, *, seconds: float) -> None:
        """Keep one."""
        self.records.append(record)
        self.assessments.append(assessment)

    def noticed(self, notice: Any, *, where: str = "") -> None:
        """Keep nothing."""


class Watch:
    """The instrumentor, and what came of it."""

    def __init__(self) -> None:
        self._kept = Kept()
        self._exported = InMemorySpanExporter()
        self._provider = TracerProvider()
        self._provider.add_span_processor(SimpleSpanProcessor(self._exported))

    def instrument(self, **settings: Any) -> None:
        """Instrument, and keep what is assessed from then on."""
        HaystackInstrumentor().instrument(**settings)
        tracer = self._provider.get_tracer("rop_otel")
        runtime.install(runtime.Runtime(Config(), tracer=tracer, sinks=(self._kept,)))

    @property
    def spans(self) -> list[str]:
        """Names of all spans."""
        return [span.name for span in self._exported.get_finished_spans()]

    @property
    def records(self) -> list[Any]:
        """What was observed of each."""
        return self._kept.records

    @property
    def all(self) -> list[rop.Assessment]:
        """Everything that was assessed."""
        return self._kept.assessments

    @property
    def only(self) -> rop.Assessment:
        """The only handoff that there was."""
        (assessment,) = self._kept.assessments
        return assessment


@component
class Cut:
    """Keeps the first documents, whatever they are."""

    def __init__(self, keep: int) -> None:
        self.keep = keep

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Cut."""
        return {"documents": documents[: self.keep]}


@component
class Reply:
    """Answers with what it is told to."""

    def __init__(self, text: str) -> None:
        self.text = text

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """Answer."""
        return {"replies": [self.text]}


def notes(texts: dict[str, str] | None = None, **meta: dict[str, Any]) -> InMemoryDocumentStore:
    """Return a store of notes, with metadata for some."""
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(id=name, content=text, embedding=[1.0, place / 10], meta=meta.get(name, {}))
            for place, (name, text) in enumerate((TEXTS if texts is None else texts).items())
        ]
    )
    return store


def build(
    *,
    keep: int = 3,
    reply: str = "See [1].",
    pattern: str | None = r"\[(\d+)\]",
    attached: str = "cut",
    store: InMemoryDocumentStore | None = None,
    pipeline: type[Any] = Pipeline,
    **arguments: Any,
) -> Any:
    """Return a pipeline of two retrievers, fusion, reorder, a cut, a prompt and an answer."""
    store = store or notes()
    made = pipeline(connection_type_validation=False, **arguments)  # version 2 tells List from list
    made.add_component("bm25", InMemoryBM25Retriever(store, top_k=6))
    made.add_component("embeddings", InMemoryEmbeddingRetriever(store, top_k=6))
    made.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    made.add_component("middle", LostInTheMiddleRanker())
    made.add_component("cut", Cut(keep))
    made.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["documents", "query"]))
    made.add_component("reply", Reply(reply))
    made.add_component("answer", AnswerBuilder(reference_pattern=pattern))
    for sender, receiver in (
        ("bm25", "join"),
        ("embeddings", "join"),
        ("join", "middle"),
        ("middle", "cut"),
        ("cut", "prompt.documents"),
        ("prompt", "reply"),
        ("reply.replies", "answer.replies"),
        (f"{attached}.documents", "answer.documents"),
    ):
        made.connect(sender, receiver)
    return made


def question(text: str = QUERY) -> dict[str, Any]:
    """Return the inputs of that pipeline."""
    return {
        "bm25": {"query": text},
        "embeddings": {"query_embedding": [1.0, 0.0]},
        "prompt": {"query": text},
        "answer": {"query": text},
    }


class Parts:
    """What tests make pipelines of."""

    Cut = Cut
    Reply = Reply
    Pipeline = staticmethod(functools.partial(Pipeline, connection_type_validation=False))
    TEMPLATE = TEMPLATE
    QUERY = QUERY
    build = staticmethod(build)
    notes = staticmethod(notes)
    question = staticmethod(question)


@pytest.fixture
def parts() -> type[Parts]:
    """What tests make pipelines of."""
    return Parts


@pytest.fixture
def watch() -> Iterator[Watch]:
    """The instrumentor; after the test everything is as it was."""
    before = runtime.install(None)
    watch = Watch()
    yield watch
    if HaystackInstrumentor().is_instrumented_by_opentelemetry:
        HaystackInstrumentor().uninstrument()
    rop.shutdown()
    runtime.install(before)


@pytest.fixture
def selecting(watch: Watch) -> Callable[[object], Watch]:
    """Instrument with a fixed selection."""

    def instrument(selected: object, **settings: Any) -> Watch:
        watch.instrument(selected_by=lambda inputs: selected, **settings)
        return watch

    return instrument
