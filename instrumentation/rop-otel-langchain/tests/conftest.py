"""What the tests share: the instrumentor on and off again, what was captured, and small parts of LangChain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from rop_otel_langchain import LangChainInstrumentor

import rop_otel as rop
from rop_otel.core.handoff import StageRecord
from rop_otel.testing import Captured, capture

CHAINS = "langchain_classic" if find_spec("langchain_classic") else "langchain"  # they were part of langchain until 1.0
NOTES = [Document(id=f"n{number}", page_content=f"Note {number} is about subject {number}.") for number in range(1, 7)]
PROMPT = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")


def pytest_configure(config: pytest.Config) -> None:
    """Pass over what the oldest versions of LangChain do that pydantic has come to warn of."""
    config.addinivalue_line("filterwarnings", "ignore:Accessing the 'model_:DeprecationWarning")


class Given(BaseRetriever):
    """A retriever that returns what it is told to, or raises it."""

    results: Any

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.results, Exception):
            raise self.results
        return self.results  # type: ignore[no-any-return]


class BM25Retriever(Given):
    """Is lexical by its name."""


class Reversing(BaseDocumentCompressor):
    """A reranker that turns the order around and keeps the first."""

    keep: int = 3

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> Sequence[Document]:
        """Return the last documents, the last first."""
        return [*documents][::-1][: self.keep]


class LongContextReorder(BaseDocumentTransformer):
    """Is a reorder by its name."""

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Return the documents in another order."""
        return [*documents[1:], documents[0]]


class ByNumber(Embeddings):
    """Knows how near a note is to the question by its number: the first is the nearest."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of notes."""
        return [[1.0, float("".join(filter(str.isdigit, text))[:1] or 0)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return [1.0, 0.0]


class Parts:
    """Makes the parts of chains."""

    notes = NOTES
    prompt = PROMPT
    Given = Given
    BM25Retriever = BM25Retriever
    Reversing = Reversing
    LongContextReorder = LongContextReorder

    def classic(self, name: str) -> Any:
        """Return what is in a module of LangChain's older chains and retrievers: ``retrievers.EnsembleRetriever``."""
        module, _, member = name.rpartition(".")
        return getattr(import_module(f"{CHAINS}.{module}"), member)

    def store(self, notes: list[Document] = NOTES) -> InMemoryVectorStore:
        """Return an index of notes."""
        store = InMemoryVectorStore(ByNumber())
        store.add_documents(notes)
        return store

    def vector(self, k: int = 3) -> BaseRetriever:
        """Return a retriever of the first notes."""
        return self.store().as_retriever(search_kwargs={"k": k})

    def ensemble(self, *arms: Any) -> BaseRetriever:
        """Return a fusion, of the notes 3 to 5 and 1 to 3 unless arms are given."""
        arms = arms or (BM25Retriever(results=NOTES[2:5]), self.vector())
        return self.classic("retrievers.EnsembleRetriever")(retrievers=[*arms])  # type: ignore[no-any-return]

    def compressed(self, base: Any = None, compressor: Any = None) -> BaseRetriever:
        """Return a fusion with a reranker, or what is given with it."""
        return self.classic("retrievers.ContextualCompressionRetriever")(  # type: ignore[no-any-return]
            base_retriever=base or self.ensemble(), base_compressor=compressor or Reversing()
        )

    def joined(self, documents: Sequence[Document]) -> str:
        """Format documents."""
        return "\n\n".join(document.page_content for document in documents)

    def lcel(
        self, retrieval: Any, formatting: Callable[..., str] | None = None, answer: str = "So it is."
    ) -> Runnable[Any, Any]:
        """Return a chain that is put together by hand."""
        context = retrieval | RunnableLambda(formatting or self.joined)
        return {"context": context, "input": RunnablePassthrough()} | PROMPT | FakeListChatModel(responses=[answer])

    def qa(
        self, retrieval: Any = None, *, answer: str = "So it is.", source: str = "{page_content}"
    ) -> Runnable[Any, Any]:
        """Return LangChain's own chain, which returns the answer with its documents."""
        stuff = self.classic("chains.combine_documents.create_stuff_documents_chain")(
            FakeListChatModel(responses=[answer]), PROMPT, document_prompt=PromptTemplate.from_template(source)
        )
        chain: Runnable[Any, Any] = self.classic("chains.create_retrieval_chain")(retrieval or self.compressed(), stuff)
        return chain


@pytest.fixture
def parts() -> Parts:
    """What chains are made of."""
    return Parts()


class Seen:
    """What was captured of an instrumented application."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured

    @property
    def assessments(self) -> list[rop.Assessment]:
        """All of them."""
        return self.captured.assessments

    @property
    def assessment(self) -> rop.Assessment:
        """The only one."""
        rop.current_handoff()  # what was left half-way ends when the monitor is next used
        (assessment,) = self.captured.assessments
        return assessment

    @property
    def stages(self) -> list[StageRecord]:
        """The stages of the only handoff, in the order of their ends."""
        (record,) = self.captured.records
        return sorted(record.stages, key=lambda stage: stage.end_ns or 0)

    @property
    def lists(self) -> list[tuple[str, list[str] | None]]:
        """The kind of each of these stages, with what it returned."""
        return [(each.kind, None if each.returned is None else [*each.returned]) for each in self.stages]

    @property
    def kinds(self) -> list[str]:
        """The kinds of these stages."""
        return [stage.kind for stage in self.stages]


@pytest.fixture
def instrument() -> Iterator[Callable[..., None]]:
    """Switches the instrumentation on, with settings; it is off again afterwards."""
    yield LangChainInstrumentor().instrument
    if LangChainInstrumentor().is_instrumented_by_opentelemetry:
        LangChainInstrumentor().uninstrument()
    rop.shutdown()


@pytest.fixture
def seen(instrument: Callable[..., None]) -> Iterator[Seen]:
    """The instrumentation is on, and a note is selected: the one that the question names."""
    instrument(selected_by=lambda inputs: str(inputs["input"] if isinstance(inputs, dict) else inputs))
    with capture(strict=False) as captured:
        yield Seen(captured)
