"""Graphs whose nodes run again or at once, and retrievers that run others."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore, VectorStoreRetriever
from pydantic import BaseModel

import rop_otel as rop
from rop_otel.testing import capture

graphs = pytest.importorskip("langgraph.graph")
types = pytest.importorskip("langgraph.types")

MODEL = FakeListChatModel(responses=["So it is, says the text."])


class Replaced(TypedDict):
    """A state whose documents are replaced."""

    input: str
    documents: list[Document]
    answer: str


class Added(TypedDict):
    """A state whose documents add up."""

    input: str
    documents: Annotated[list[Document], operator.add]
    answer: str


@dataclass
class Object:
    """A state that is an object."""

    input: str
    documents: list[Document] = field(default_factory=list)
    answer: str = ""


class Checked(BaseModel):
    """The same, which pydantic checks."""

    input: str
    documents: list[Document] = []
    answer: str = ""


class Last(BaseDocumentCompressor):
    """A reranker that keeps the last."""

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        """Return the last document."""
        return documents[-1:]


def held(state: Any, name: str) -> Any:
    """Return what a state holds."""
    return state[name] if isinstance(state, dict) else getattr(state, name)


def looping(parts: Any, state: Any, *, within: Any = None, after: Any = None) -> Any:
    """Return a graph that retrieves the notes 1 and 2, rewrites the question, and retrieves the notes 2 and 3."""
    lists = {"better": parts.notes[1:3]}

    class Searching(parts.Given):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return lists.get(query, parts.notes[:2])

    retriever = Searching(results=None)
    builder = graphs.StateGraph(state)
    found = lambda given: retriever.invoke(held(given, "input"))  # noqa: E731
    builder.add_node("retrieve", lambda given: {"documents": within(found(given)) if within else found(given)})
    builder.add_node("rewrite", lambda given: {"input": "better"})
    builder.add_node("generate", lambda given: {"answer": MODEL.invoke(parts.joined(held(given, "documents"))).content})
    last = "retrieve"
    if after is not None:
        builder.add_node("rerank", lambda given: {"documents": after(held(given, "documents"))})
        builder.add_edge("retrieve", "rerank")
        last = "rerank"
    builder.add_edge("__start__", "retrieve")
    builder.add_edge("rewrite", "retrieve")
    builder.add_conditional_edges(
        last, lambda given: "generate" if held(given, "input") == "better" else "rewrite", ["rewrite", "generate"]
    )
    return builder.compile()


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
@pytest.mark.parametrize("state", [Replaced, Object, Checked])
def test_a_node_that_runs_again_is_a_round(parts: Any, seen: Any, state: Any, way: str) -> None:
    """What its first run found, and the second did not, was not used."""
    for selected, outcome in (("n1", ("FAIL", "unused")), ("n2", ("PASS", None)), ("n3", ("PASS", None))):
        app, inputs = looping(parts, state), {"input": selected}
        if way == "ainvoke":
            asyncio.run(app.ainvoke(inputs))
        else:
            list(getattr(app, way)([inputs] if way == "batch" else inputs))
        told = seen.assessments[-1]
        assert (told.verdict, told.drop_cause and told.drop_cause.value, told.findings) == (*outcome, ())
        assert [stage.round for stage in seen.captured.records[-1].stages] == [1, 2, 2]


def test_a_state_that_adds_up(parts: Any, seen: Any) -> None:
    """What all runs found is shown."""
    for selected in ("n1", "n2", "n3"):
        looping(parts, Added).invoke({"input": selected})
        assert (seen.assessments[-1].verdict, seen.assessments[-1].findings) == (rop.Verdict.PASS, ())


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ({"within": lambda documents: documents[-1:]}, "function"),
        ({"within": lambda documents: Last().compress_documents(documents, "?")}, "rerank"),
        ({"after": lambda documents: documents[-1:]}, "function"),
        ({"after": lambda documents: Last().compress_documents(documents, "?")}, "rerank"),
    ],
)
def test_stages_of_a_loop(parts: Any, seen: Any, steps: dict[str, Any], place: str) -> None:
    """Each run's are fed by that run."""
    for selected, lost in (("n1", True), ("n2", True), ("n3", False)):
        looping(parts, Replaced, **steps).invoke({"input": selected})
        told = seen.assessments[-1]
        assert (told.verdict, told.dropped_at) == (("FAIL", place) if lost else ("PASS", None))
        assert not told.findings


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_nodes_that_run_at_once(parts: Any, seen: Any, way: str) -> None:
    """Each that a graph sends out is a round of its own, and all are shown."""
    lists = {"one": parts.notes[:2], "two": parts.notes[2:4]}

    class Searching(parts.Given):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return lists[query]

    retriever = Searching(results=None)

    def search(state: Any) -> Any:
        return {"documents": Last().compress_documents(retriever.invoke(state["input"]), "?")}

    builder = graphs.StateGraph(Added)
    builder.add_node("search", search)
    builder.add_node("generate", lambda state: {"answer": MODEL.invoke(parts.joined(state["documents"])).content})
    builder.add_conditional_edges(
        "__start__", lambda state: [types.Send("search", {"input": each}) for each in lists], ["search"]
    )
    builder.add_edge("search", "generate")
    app = builder.compile()
    for selected, lost in (("n1", True), ("n2", False), ("n3", True), ("n4", False)):
        asyncio.run(app.ainvoke({"input": selected})) if way == "ainvoke" else app.invoke({"input": selected})
        told = seen.assessments[-1]
        assert (told.verdict, told.dropped_at) == (("FAIL", "rerank") if lost else ("PASS", None))
        assert not told.findings


def test_retrievers_that_run_at_once_in_a_node(parts: Any, seen: Any) -> None:
    """Each that is made of several is a round of its own there, too, and what takes the results of all is of none."""
    both = RunnableParallel(
        one=parts.compressed(parts.Given(results=parts.notes[:2]), Last()),
        two=parts.compressed(parts.Given(results=parts.notes[2:4]), Last()),
    ) | (lambda found: [*found["one"], *found["two"]])
    builder = graphs.StateGraph(Replaced)
    builder.add_node("search", lambda state: {"documents": both.invoke(state["input"])})
    builder.add_node("generate", lambda state: {"answer": MODEL.invoke(parts.joined(state["documents"])).content})
    builder.add_edge("__start__", "search")
    builder.add_edge("search", "generate")
    for selected, lost in (("n1", True), ("n2", False), ("n3", True), ("n4", False)):
        builder.compile().invoke({"input": selected})
        told = seen.assessments[-1]
        assert (told.verdict, told.dropped_at) == (("FAIL", "rerank") if lost else ("PASS", None))
        assert not told.findings


class Scored(InMemoryVectorStore):
    """A store that says how relevant its documents are."""

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda score: score


class Threshold(BaseRetriever):
    """Keeps what is near enough."""

    vectorstore: VectorStore
    search: str

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = getattr(self.vectorstore, self.search)(query, k=3)
        return [document for document, score in found if score > 0.6]


class Nearest(VectorStoreRetriever):
    """Keeps the nearest only."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return super()._get_relevant_documents(query, run_manager=run_manager)[:1]


def retrievers(parts: Any) -> list[tuple[Any, str]]:
    """Return retrievers that keep one of the documents of another one, and the kind of each."""
    store = Scored(parts.store().embedding)
    store.add_documents(parts.notes[:3])
    base = store.as_retriever()
    kept: dict[str, Any] = {"base": base}

    class Own(BaseRetriever):
        find: Any

        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            return self.find(query)[:1]  # type: ignore[no-any-return]

    return [
        (Threshold(vectorstore=store, search="similarity_search_with_score"), "retriever"),
        (Threshold(vectorstore=store, search="similarity_search_with_relevance_scores"), "retriever"),
        (Nearest(vectorstore=store), "vector"),
        (Own(find=lambda query: base.invoke(query)), "retriever"),
        (Own(find=lambda query: kept["base"].invoke(query)), "retriever"),
        (Own(find=store.similarity_search), "retriever"),
        (RunnableLambda(lambda query: store.similarity_search(query)[:1]), "function"),
        (parts.ensemble(Own(find=base.invoke), parts.Given(results=parts.notes[4:])), "retriever"),
    ]


def test_what_a_retriever_drops_of_another_one(parts: Any, seen: Any) -> None:
    """It is lost there, wherever the retriever keeps the other one, and nothing else is said."""
    for retriever, kind in retrievers(parts):
        parts.lcel(retriever).invoke("n2")
        told = seen.assessments[-1]
        assert (told.verdict, told.dropped_at, told.drop_cause) == ("FAIL", kind, "dropped")
        assert told.findings == ()
        parts.lcel(retriever).invoke("n1")
        assert (seen.assessments[-1].verdict, seen.assessments[-1].findings) == (rop.Verdict.PASS, ())


def test_retrievers_side_by_side(parts: Any, seen: Any) -> None:
    """Each loses its own."""

    class Own(BaseRetriever):
        base: Any

        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            return self.base.invoke(query)[:1]  # type: ignore[no-any-return]

    one, two = (Own(base=parts.Given(results=parts.notes[start : start + 2])) for start in (0, 2))
    both = RunnableParallel(one=one, two=two) | (lambda found: [*found["one"], *found["two"]])
    for selected, lost in (("n1", False), ("n2", True), ("n3", False), ("n4", True)):
        parts.lcel(both).invoke(selected)
        told = seen.assessments[-1]
        assert (told.verdict, told.findings) == ("FAIL" if lost else "PASS", ())


@pytest.mark.parametrize("there", [True, False])
def test_parents_by_a_key_of_the_applications_own(parts: Any, instrument: Any, there: bool) -> None:
    """Children carry the key too, so that the search tells which parents it found, also where these are lost."""
    instrument(selected_by=lambda _: "a.md", id_keys=["source"])
    parent = Document("Note 1, of which the whole is shown.", metadata={"source": "a.md"})
    store = parts.store([Document("1", metadata={"doc_id": "7", "source": "a.md"})])
    kept: InMemoryStore = InMemoryStore()
    if there:
        kept.mset([("7", parent)])
    retriever = parts.classic("retrievers.MultiVectorRetriever")(vectorstore=store, docstore=kept)
    with capture() as captured:
        parts.lcel(retriever).invoke("?")
    told = captured.assessments[0]
    assert [each.present for each in told.stages if each.stage == "vector"] == [True]
    assert (told.verdict, told.dropped_at) == (("PASS", None) if there else ("FAIL", "expansion"))
