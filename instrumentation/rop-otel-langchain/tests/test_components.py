"""Retrievers, vector stores, compressors and transformers as stages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryStore

from rop_otel.testing import capture

ARMS = [("lexical", ["n3", "n4", "n5"]), ("vector", ["n1", "n2", "n3"]), ("fusion", ["n3", "n1", "n4", "n2", "n5"])]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_inner_retrievers_feed_the_fusion(parts: Any, seen: Any, way: str) -> None:
    """An ensemble is a fusion that its retrievers feed, called in any way."""
    chain = parts.lcel(parts.ensemble())
    call(chain, way, "n5")
    assert [*sorted(seen.lists[:2]), seen.lists[2]] == ARMS  # awaited, they run in threads and end in any order
    assert [stage.selected["rr"] for stage in seen.assessment.stages[2:3]] == [0.2]


def call(chain: Any, way: str, question: Any) -> Any:
    """Call a chain, and return what it returns, or the list of its pieces."""

    async def pieces() -> list[Any]:
        return [piece async for piece in chain.astream(question)]

    if way in ("invoke", "stream"):
        result = getattr(chain, way)(question)
        return result if way == "invoke" else [*result]
    return asyncio.run(chain.ainvoke(question) if way == "ainvoke" else pieces())


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_compressor_is_a_rerank_stage(parts: Any, seen: Any, way: str) -> None:
    """A reranker, which LangChain tells no callback of, is a stage, and the retriever that only runs it is none."""
    call(parts.lcel(parts.compressed()), way, "n3")
    assert seen.lists[2:] == [ARMS[2], ("rerank", ["n5", "n2", "n4"]), ("packing", ["n5", "n2", "n4"])]
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at rerank: the reranker put it too low")


def test_a_class_that_is_defined_later_is_watched(parts: Any, seen: Any) -> None:
    """Subclasses that come after the instrumentation are wrapped too."""

    class Newcomer(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            return [*parts.notes[:2]]

        def invoke(self, *args: Any, **kwargs: Any) -> list[Document]:
            return super().invoke(*args, **kwargs)

    class Last(BaseDocumentCompressor):
        def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
            return documents[-1:]

    parts.lcel(parts.compressed(Newcomer(), Last())).invoke("n1")
    assert seen.lists == [("retriever", ["n1", "n2"]), ("rerank", ["n2"]), ("packing", ["n2"])]
    assert [stage.source for stage in seen.stages] == [True, False, False]


def test_kinds_by_name(parts: Any, seen: Any) -> None:
    """Filters and extractors are no rerankers, and a subclass is what its base class is."""

    class LLMChainFilter(BaseDocumentCompressor):
        def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
            return documents[:2]

    class LLMChainExtractor(LLMChainFilter):
        pass

    for compressor, kind in ((LLMChainFilter(), "candidates"), (LLMChainExtractor(), "sentence_selection")):
        parts.lcel(parts.compressed(parts.vector(), compressor)).invoke("n3")
        assert kind in [stage.stage for stage in seen.assessments[-1].stages]


def test_kinds_that_the_application_tells(parts: Any, instrument: Any) -> None:
    """``stages`` says what a class or function is, or that it is no stage."""
    instrument(stages={"Given": "vector", "Reversing": "mmr", "first": None})

    def first(documents: list[Document]) -> list[Document]:
        return documents[:1]

    with capture() as captured:
        parts.lcel(parts.compressed(parts.Given(results=parts.notes)) | first).invoke("n1")
    assert [stage.stage for stage in captured.assessments[0].stages] == ["vector", "mmr", "packing"]


def test_kinds_that_the_environment_tells(parts: Any, instrument: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """``ROP_OTEL_STAGES`` says it too, and of a retriever of a kind of its own that it is a source."""
    monkeypatch.setenv("ROP_OTEL_STAGES", "Given=sql, Reversing=")
    instrument()
    with capture() as captured:
        parts.lcel(parts.compressed(parts.Given(results=parts.notes))).invoke("n1")
    (record,) = captured.records
    assert [(stage.kind, stage.source) for stage in record.stages] == [("sql", True), ("packing", False)]


def test_a_pipeline_of_compressors_is_its_parts(parts: Any, seen: Any) -> None:
    """Compressors and transformers in a pipeline are stages one after another, and the pipeline is none."""
    pipeline = parts.classic("retrievers.document_compressors.DocumentCompressorPipeline")(
        transformers=[parts.LongContextReorder(), parts.Reversing(keep=2)]
    )
    parts.lcel(parts.compressed(parts.vector(), pipeline)).invoke("n2")
    assert seen.lists == [
        ("vector", ["n1", "n2", "n3"]),
        ("reorder", ["n2", "n3", "n1"]),
        ("rerank", ["n1", "n3"]),
        ("packing", ["n1", "n3"]),
    ]


def test_a_multi_query_retriever_fuses(parts: Any, seen: Any) -> None:
    """Each query of several is a search, which the fusion joins; the chain that writes the queries is no stage."""
    queries: RunnableLambda[Any, list[str]] = RunnableLambda(lambda _: ["a", "b"])
    fusion = parts.classic("retrievers.MultiQueryRetriever")(retriever=parts.vector(2), llm_chain=queries)
    parts.lcel(fusion).invoke("n1")
    assert seen.lists[:3] == [("vector", ["n1", "n2"])] * 2 + [("fusion", ["n1", "n2"])]


def test_parents_are_an_expansion(parts: Any, seen: Any) -> None:
    """The search for children says which parents it found; a parent that the store lacks is lost at the expansion."""
    docstore: InMemoryStore = InMemoryStore()
    retriever = parts.classic("retrievers.MultiVectorRetriever")(
        vectorstore=parts.store([Document(id=f"child {n}", page_content=f"{n}", metadata={"doc_id": n}) for n in "12"]),
        docstore=docstore,
    )
    docstore.mset([("1", parts.notes[0].model_copy(update={"id": "1"}))])
    parts.lcel(retriever).invoke("2")
    assert seen.lists == [("vector", ["1", "2"]), ("expansion", ["1"]), ("packing", ["1"])]
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at expansion: expansion displaced it")


def test_a_search_of_a_vector_store_is_a_stage(parts: Any, seen: Any) -> None:
    """A function that searches a store by itself is seen as the search that it is, once."""
    store = parts.store()

    def search(question: str) -> list[Document]:
        return store.similarity_search(question, k=2)  # type: ignore[no-any-return]

    def scored(question: str) -> list[tuple[Document, float]]:
        return store.similarity_search_with_score(question, k=2)  # type: ignore[no-any-return]

    parts.lcel(RunnableLambda(search)).invoke("n2")
    assert seen.lists == [("vector", ["n1", "n2"]), ("packing", ["n1", "n2"])]
    parts.lcel(RunnableLambda(scored) | (lambda pairs: [document for document, _ in pairs])).invoke("n2")
    found = seen.captured.records[-1].stages[0]
    assert (found.kind, found.returned, found.scores) == ("vector", ("n1", "n2"), None)


def test_arms_of_several_stages(parts: Any, seen: Any) -> None:
    """A reranker inside an arm is fed by its own arm only, and the fusion by the ends of all arms."""
    reranked = parts.compressed(parts.vector(), parts.Reversing(keep=2))
    lexical = parts.BM25Retriever(results=parts.notes[4:])
    for arms in ([reranked, lexical], [lexical, reranked], [parts.ensemble(lexical, reranked), lexical]):
        parts.lcel(parts.ensemble(*arms), lambda documents: documents[0].page_content).invoke("n3")
        assert not seen.assessments[-1].findings
    seen.assessments.clear()
    seen.captured.records.clear()

    class Picking(BaseDocumentCompressor):
        def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
            return documents[1:2]

    pipeline = parts.classic("retrievers.document_compressors.DocumentCompressorPipeline")(
        transformers=[parts.LongContextReorder(), Picking()]
    )
    parts.lcel(parts.ensemble(lexical, parts.compressed(parts.vector(), pipeline))).invoke("n1")
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at rerank: the reranker put it too low")


def test_a_retriever_that_takes_from_others_is_a_source(parts: Any, seen: Any) -> None:
    """What a retriever of the application's own does with the documents of another is seen as a stage around it."""

    class Picking(BaseRetriever):
        base: BaseRetriever

        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            return self.base.invoke(query)[:1]

    parts.lcel(Picking(base=parts.vector())).invoke("n2")
    assert [(stage.kind, stage.source) for stage in seen.stages[:2]] == [("vector", False), ("retriever", True)]
    assert str(seen.assessment).endswith("lost at retriever: the stage dropped it")
    lexical = parts.BM25Retriever(results=parts.notes[4:])
    for arms in ([lexical, Picking(base=parts.compressed())], [Picking(base=parts.compressed()), lexical]):
        parts.lcel(parts.ensemble(*arms), lambda documents: documents[0].page_content).invoke("n4")
        assert str(seen.assessments[-1]).endswith("lost at retriever: the stage dropped it")
        parts.lcel(parts.ensemble(*arms), lambda documents: "Note 5 is about subject 5.").invoke("n6")
        assert str(seen.assessments[-1]).endswith("lost at packing: packing left it out")


def test_transformers_outside_of_a_handoff_are_no_stages(parts: Any, seen: Any, monkeypatch: Any) -> None:
    """Documents are transformed and split before they are indexed, which is no retrieval."""
    started = []
    monkeypatch.setattr("rop_otel_langchain.watching.rop.using_stage", lambda *args, **kwargs: started.append(args))
    parts.LongContextReorder().transform_documents(parts.notes)
    assert not started


def test_async_transformers_count_once(parts: Any, seen: Any) -> None:
    """The default of an asynchronous call runs the other one, and only one of both is a stage."""

    class KeepTwo(BaseDocumentTransformer):
        def transform_documents(self, documents: Any, **kwargs: Any) -> Any:
            return documents[:2]

    chain = parts.lcel(parts.vector() | RunnableLambda(KeepTwo().atransform_documents))
    asyncio.run(chain.ainvoke("n3"))
    assert seen.lists[1:] == [("transformer", ["n1", "n2"]), ("packing", ["n1", "n2"])]


def test_a_model_inside_of_a_compressor_packs_nothing(parts: Any, seen: Any) -> None:
    """The prompts of a compressor or retriever are its own affair: nobody answers from them."""
    inner = RunnableLambda(parts.joined) | FakeListChatModel(responses=["yes"])

    class Asking(BaseDocumentCompressor):
        def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
            inner.invoke(documents)
            return documents[:1]

    parts.lcel(parts.compressed(parts.vector(), Asking())).invoke("n2")
    assert seen.kinds == ["vector", "rerank", "packing"]
