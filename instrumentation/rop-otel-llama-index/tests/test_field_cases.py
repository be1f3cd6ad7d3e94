"""Faults of retrieval that users of LlamaIndex reported, in small: what is right in each.

Older versions read the annotations of steps as they stand, so that this module must not postpone them.
"""

from collections.abc import Callable
from typing import Any

import pytest
from field_parts import InTurn, Scripted, codes, found, loss, nodes, text
from llama_index.core import (
    MockEmbedding,
    QueryBundle,
    Settings,
    VectorStoreIndex,
    get_response_synthesizer,
)
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    RetryQueryEngine,
    RetrySourceQueryEngine,
)
from llama_index.core.retrievers import (
    AutoMergingRetriever,
    BaseRetriever,
    QueryFusionRetriever,
    RecursiveRetriever,
    VectorIndexRetriever,
)
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import IndexNode, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.storage import StorageContext
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step
from llama_index_parts import Found, KeepFirst, Model, Watch, engine
from rop_otel_llama_index import LlamaIndexInstrumentor

# Sources of an answer are read as the stages are


@pytest.mark.parametrize("cited", [False, True])
def test_sources_have_the_ids_of_the_stages(watch: Watch, cited: bool) -> None:
    """With keys of the metadata, what a response attaches is what was shown: right citations resolve."""
    watch(selected_by=lambda question: "queues.md", id_keys=["source"])
    made_up = [
        NodeWithScore(node=TextNode(text=f"{label}{text(raw)}", metadata={"source": f"{raw}.md"}), score=1.0)
        for label, raw in zip(("", "") if cited else ("[1] ", "[2] "), ("queues", "timeouts"), strict=True)
    ]
    model = Model(answer="Use queues [1] or timeouts [2].")
    if cited:
        CitationQueryEngine(Found(found=made_up), llm=model).query("?")
    else:
        engine(Found(found=made_up), llm=model).query("?")
    citations = watch.only.citations
    assert (watch.only.verdict, citations.resolved, citations.misattributed, codes(watch)) == ("PASS", 2, 0, [])


# A fusion that returns just what one arm did


def test_a_fusion_that_keeps_one_arms_list(watch: Watch) -> None:
    """A fusion is no wrapper of the arm whose list it returns: what it drops is lost at it."""
    watch(selected_by=lambda question: "x")
    one = [NodeWithScore(node=TextNode(id_=raw, text=said), score=0.9) for raw, said in (("v1", "same"), ("x", "else"))]
    other = [NodeWithScore(node=TextNode(id_="b1", text="same"), score=0.8)]
    arms: list[BaseRetriever] = [Found(found=one), Found(found=other)]
    fusion = QueryFusionRetriever(
        arms, llm=Model(), num_queries=1, mode=FUSION_MODES.RECIPROCAL_RANK, use_async=False, similarity_top_k=1
    )
    engine(fusion).query("?")
    assert (*loss(watch), codes(watch)) == ("FAIL", "fusion", "fused_out", [])


# Retrievers that ask others


def index(*ids: str, **metadata: Any) -> VectorStoreIndex:
    """Return an index of passages."""
    return VectorStoreIndex([each.node for each in nodes(*ids, **metadata)], embed_model=MockEmbedding(4))


class OfField(BaseRetriever):
    """Keeps the first that another retriever finds."""

    def __init__(self, inner: BaseRetriever) -> None:
        super().__init__()
        self.inner = inner

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.inner.retrieve(query_bundle)[:1]


class OfClosure(BaseRetriever):
    """Keeps the first that a function finds."""

    def __init__(self, search: Callable[[QueryBundle], list[NodeWithScore]]) -> None:
        super().__init__()
        self.search = search

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.search(query_bundle)[:1]


class OfStore(BaseRetriever):
    """Searches a vector store by itself, and keeps the best."""

    def __init__(self, store: SimpleVectorStore, kept: dict[str, Any]) -> None:
        super().__init__()
        self.store = store
        self.kept = kept

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self.store.query(VectorStoreQuery(query_embedding=[0.5] * 4, similarity_top_k=3))
        scored = zip(result.ids or [], result.similarities or [], strict=True)
        return [NodeWithScore(node=self.kept[raw], score=score) for raw, score in scored][:1]


def store(*ids: str, kind: type[SimpleVectorStore] = SimpleVectorStore) -> OfStore:
    """Return a retriever over a store."""
    kept = {each.node.node_id: each.node for each in nodes(*ids)}
    filled = kind()
    for node in kept.values():
        node.embedding = [0.5] * 4
    filled.add(list(kept.values()))
    return OfStore(filled, kept)


@pytest.mark.parametrize(
    "retriever",
    [
        lambda: OfField(index("a", "b", "c").as_retriever(similarity_top_k=3)),
        lambda: OfClosure(index("a", "b", "c").as_retriever(similarity_top_k=3).retrieve),
        lambda: store("a", "b", "c"),
    ],
    ids=["field", "closure", "store"],
)
@pytest.mark.parametrize("reorders", [False, True])
def test_what_a_retriever_drops_of_anothers_list(
    watch: Watch, retriever: Callable[[], BaseRetriever], reorders: bool
) -> None:
    """It is lost at the retriever that dropped it, wherever that has the other from; nothing is a silent cut."""
    watch(selected_by=lambda question: "c")
    engine(retriever(), *([LongContextReorder()] if reorders else [])).query("?")
    assert (*loss(watch), codes(watch)) == ("FAIL", "retriever", "dropped", [])


class Threshold(VectorIndexRetriever):
    """One of LlamaIndex's, of which the application keeps the best."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return super()._retrieve(query_bundle)[:1]


def test_what_a_retriever_drops_of_what_it_extends(watch: Watch) -> None:
    """It is lost at the retriever, and was retrieved."""
    watch(selected_by=lambda question: "c")
    engine(Threshold(index("a", "b", "c"), similarity_top_k=3, embed_model=MockEmbedding(4))).query("?")
    assert (*loss(watch), codes(watch)) == ("FAIL", "vector", "dropped", [])


def test_a_store_that_is_imported_later(watch: Watch) -> None:
    """Its searches are seen as well, once, and no longer when the watching is switched off."""
    watch(selected_by=lambda question: "c")

    class Later(SimpleVectorStore):
        def query(self, query: VectorStoreQuery, **kwargs: Any) -> Any:
            return super().query(query, **kwargs)

    before = Later.query
    engine(store("a", "b", "c", kind=Later)).query("?")
    assert (*loss(watch), codes(watch)) == ("FAIL", "retriever", "dropped", [])
    LlamaIndexInstrumentor().uninstrument()
    assert (Later.query, hasattr(SimpleVectorStore.query, "__wrapped__")) == (before.__wrapped__, False)


@pytest.mark.parametrize("keyed", [False, True])
def test_parents_and_children_under_one_key(watch: Watch, keyed: bool) -> None:
    """Where children and their parent have one key, the search holds the object, and so does the parent."""
    watch(selected_by=lambda question: "a.md", id_keys=["source"] if keyed else None)
    parent = TextNode(id_="parent" if keyed else "a.md", text=text("a") * 3, metadata={"source": "a.md"})
    children = [
        TextNode(
            id_=f"child{place}",
            text=text("a"),
            metadata={"source": "a.md"},
            relationships={NodeRelationship.PARENT: RelatedNodeInfo(node_id=parent.node_id)},
        )
        for place in range(3)
    ]
    parent.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=each.node_id) for each in children]
    kept = StorageContext.from_defaults()
    kept.docstore.add_documents([parent, *children])
    arm = VectorStoreIndex(children, embed_model=MockEmbedding(4)).as_retriever(similarity_top_k=3)
    engine(AutoMergingRetriever(arm, kept, verbose=False)).query("?")
    if keyed or "a.md" in watch.only.shown.ids:  # older versions do not merge these
        assert watch.only.verdict == "PASS"
    assert [score.present for score in watch.only.stages if score.stage == "vector"] == [keyed]


def test_a_recursive_retriever(watch: Watch) -> None:
    """What stands for another retriever is no document of the reader's; what that one finds is."""
    watch(selected_by=lambda question: "b")
    link = NodeWithScore(node=IndexNode(id_="link", text="see the others", index_id="others"), score=1.0)
    recursive = RecursiveRetriever("root", retriever_dict={"root": Found(found=[link]), "others": found("a", "b")})
    engine(recursive).query("?")
    assert (watch.only.verdict, codes(watch)) == ("PASS", [])
    assert watch.only.shown.ids == ("a", "b")


@pytest.mark.parametrize(
    ("selected", "verdict", "dropped_at", "cause"),
    [
        ("a", "PASS", None, None),
        ("d", "PASS", None, None),
        ("c", "FAIL", "KeepFirst", "dropped"),
        ("e", "FAIL", None, "never_retrieved"),
    ],
)
def test_a_retriever_that_asks_an_engine(
    watch: Watch, selected: str, verdict: str, dropped_at: str | None, cause: str | None
) -> None:
    """What the engine finds and reads is apart from what else the retriever does, and its answer is a document."""
    watch(selected_by=lambda question: selected)
    link = NodeWithScore(node=IndexNode(id_="link", text="see the notes", index_id="notes"), score=1.0)
    asked = engine(found("a", "b", "c"), KeepFirst(count=2), llm=Model(answer="It is explained at length."))
    recursive = RecursiveRetriever(
        "root", retriever_dict={"root": Found(found=[link, *found("d").found])}, query_engine_dict={"notes": asked}
    )
    engine(recursive).query("?")
    assert (*loss(watch), codes(watch)) == (verdict, dropped_at, cause, [])
    assert {"a", "b", "d"} <= set(watch.only.shown.ids)


# A search that runs again


class Looked(Event):
    """What was found."""

    question: str
    nodes: Any


class Again(Event):
    """Another question."""

    question: str


class InALoop(Workflow):
    """Retrieves, has that graded, and retrieves again."""

    def __init__(self, *lists: list[NodeWithScore], synthesizes: bool) -> None:
        super().__init__(timeout=600)
        self.retriever = InTurn(*lists)
        self.model = Scripted(script=["no", "yes", "The answer is so."])
        self.synthesizes = synthesizes

    @step
    async def begin(self, event: StartEvent) -> Again:
        """Begin."""
        return Again(question=event.get("question"))

    @step
    async def look(self, event: Again) -> Looked:
        """Retrieve."""
        return Looked(question=event.question, nodes=await self.retriever.aretrieve(event.question))

    @step
    async def grade(self, event: Looked) -> Again | StopEvent:
        """Grade, and answer."""
        context = "\n".join(each.get_content() for each in event.nodes)
        if str(await self.model.acomplete(f"Grade this:\n{context}")) == "no":
            return Again(question="better")
        if self.synthesizes:
            return StopEvent(result=await get_response_synthesizer(llm=self.model).asynthesize("?", event.nodes))
        return StopEvent(result=str(await self.model.acomplete(f"From this:\n{context}")))


class InAnEngine(CustomQueryEngine):
    """The same in an engine."""

    retriever: Any
    model: Any
    synthesizes: bool

    def custom_query(self, query_str: str) -> Any:
        """Answer."""
        context = ""
        nodes: Any = []
        for _ in range(2):
            nodes = self.retriever.retrieve(query_str)
            context = "\n".join(each.get_content() for each in nodes)
            self.model.complete(f"Grade this:\n{context}")
        if self.synthesizes:
            return get_response_synthesizer(llm=self.model).synthesize("?", nodes)
        return str(self.model.complete(f"From this:\n{context}"))


@pytest.mark.parametrize("selected", ["a", "c"])
@pytest.mark.parametrize("synthesizes", [False, True])
@pytest.mark.parametrize("in_workflow", [False, True])
async def test_a_search_that_runs_again(watch: Watch, selected: str, synthesizes: bool, in_workflow: bool) -> None:
    """A second pass is a round: what only the first one found is not shown, and no silent cut."""
    watch(selected_by=lambda question: selected)
    lists = nodes("a", "b"), nodes("b", "c")
    if in_workflow:
        await InALoop(*lists, synthesizes=synthesizes).run(question="?")
    else:
        model = Scripted(script=["no", "yes", "The answer is so."])
        InAnEngine(retriever=InTurn(*lists), model=model, synthesizes=synthesizes).query("?")
    expected = ("PASS", None, None) if selected == "c" else ("FAIL", None, "unused")
    assert (loss(watch), codes(watch)) == (expected, [])
    assert watch.only.shown.ids == ("b", "c")


class ForEach(CustomQueryEngine):
    """Retrieves for several questions, one after the other."""

    retriever: Any

    def custom_query(self, query_str: str) -> Any:
        """Answer."""
        found = [each for word in ("one", "two") for each in self.retriever.retrieve(word)]
        return get_response_synthesizer(llm=Model()).synthesize("?", found)


def test_a_search_for_several_questions(watch: Watch) -> None:
    """Searches of which none has a result worked on before the next are beside each other, and no rounds."""
    watch(selected_by=lambda question: "a")
    ForEach(retriever=InTurn(nodes("a"), nodes("b"))).query("?")
    assert (watch.only.verdict, watch.only.shown.ids, codes(watch)) == ("PASS", ("a", "b"), [])
    assert {stage.round for stage in watch.stages} == {None}


# A packing that raises


def test_a_prompt_that_does_not_fit(watch: Watch) -> None:
    """Where nothing is packed for want of room, nobody was shown what retrieval found."""
    watch(selected_by=lambda question: "b")
    helper = PromptHelper(context_window=20, num_output=16)
    with pytest.raises(ValueError, match="context size"):
        engine(found("a", "b"), response_synthesizer=get_response_synthesizer(llm=Model(), prompt_helper=helper)).query(
            "?"
        )
    assert (watch.only.verdict, codes(watch)) == ("UNVERIFIABLE", ["stage_failed"])


# Engines that try again


class Second(BaseEvaluator):
    """Is content with the second answer."""

    asked = 0

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None

    async def aevaluate(self, query: Any = None, response: Any = None, contexts: Any = None, **_: Any) -> Any:
        """Judge."""
        self.asked += 1
        return EvaluationResult(query=str(query), response="x", passing=self.asked > 1, feedback="no")


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("kind", [RetryQueryEngine, RetrySourceQueryEngine])
def test_an_engine_that_tries_again(watch: Watch, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the second attempt shows was shown; what only the first one found is shown by the first."""
    model = Scripted(script=["asked again"])
    monkeypatch.setattr(Settings, "_llm", model)
    watch(selected_by=lambda question: "c")
    inner = engine(InTurn(nodes("a", "b"), nodes("b", "c"), nodes("b", "c")), llm=model)
    made = (
        kind(inner, Second(), model, max_retries=2)
        if kind is RetrySourceQueryEngine
        else kind(inner, Second(), max_retries=2)
    )
    made.query("?")
    if kind is RetryQueryEngine:
        assert (watch.only.verdict, codes(watch)) == ("PASS", [])
