"""What is seen of retrievers: which source each is, fused arms, IDs, and what goes wrong in them."""

from __future__ import annotations

import asyncio
import inspect
import math
from typing import Any

import pytest
from llama_index.core import MockEmbedding, QueryBundle, SummaryIndex, async_utils
from llama_index.core.indices.keyword_table.retrievers import BaseKeywordTableRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import AutoMergingRetriever, BaseRetriever, QueryFusionRetriever, VectorIndexRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.storage import StorageContext
from llama_index_parts import NODES, BM25Retriever, Found, Watch, engine, node, scored, vector


class Joined(BaseRetriever):
    """Joins what two retrievers find, and drops the first."""

    def __init__(self, *arms: BaseRetriever) -> None:
        super().__init__()
        self.arms = list(arms)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [each for arm in self.arms for each in arm.retrieve(query_bundle)][1:]


def identified(raw: Any) -> TextNode:
    """Return a node with an ID that LlamaIndex would not take."""
    return TextNode.model_construct(id_=raw, text=repr(raw))


def by_embedding() -> BaseRetriever:
    """Return a retriever that embeds the nodes of a plain list."""
    return SummaryIndex(NODES).as_retriever(retriever_mode="embedding", embed_model=MockEmbedding(4))


class Keywords(BaseKeywordTableRetriever):
    """One of the retrievers of a keyword table, without the table."""

    def __init__(self) -> None:
        BaseRetriever.__init__(self)

    def _get_keywords(self, query_str: str) -> list[str]:
        return []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return scored("n1")


def fused(*arms: BaseRetriever, use_async: bool = False, top_k: int = 10) -> QueryFusionRetriever:
    """Return a fusion that makes up no queries."""
    return QueryFusionRetriever(
        list(arms),
        llm=MockLLM(),
        num_queries=1,
        use_async=use_async,
        similarity_top_k=top_k,
        mode=FUSION_MODES.RECIPROCAL_RANK,
    )


@pytest.mark.parametrize(
    ("retriever", "kind", "source"),
    [
        (lambda: vector(), "vector", False),
        (lambda: BM25Retriever("n1"), "lexical", False),
        (lambda: Found("n1"), "retriever", True),
        (lambda: Keywords(), "lexical", False),
        (lambda: SummaryIndex(NODES).as_retriever(), "retriever", True),
        (lambda: by_embedding(), "vector", False),
        (lambda: vector(vector_store_query_mode="hybrid"), "retriever", True),
        (lambda: vector(vector_store_query_mode="text_search"), "lexical", False),
    ],
)
def test_a_retriever_is_the_source_that_it_is(watch: Watch, retriever: Any, kind: str, source: bool) -> None:
    """A retriever that is known is a vector or lexical source, any other a source of its own; never a guess."""
    built = retriever()
    watch()
    try:
        built.retrieve("subject 1")
    except (NotImplementedError, ValueError):  # the vector store in memory knows few modes
        assert kind in watch.kinds()
    assert [(stage.kind, stage.source) for stage in watch.stages] == [(kind, source)]


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("use_async", [False, True])
def test_fusion_has_its_arms_below_it(watch: Watch, use_async: bool) -> None:
    """A fusion is one stage, each arm another, and what it drops is lost at it."""
    watch(selected_by=lambda question: "n3")
    fused(BM25Retriever("n1", "n2", "n3"), vector(2), use_async=use_async, top_k=2).retrieve("?")
    assert sorted(watch.kinds()) == ["fusion", "lexical", "vector"]
    assert watch.kinds()[-1] == "fusion"
    assert (watch.only.handoff_name, watch.only.dropped_at, watch.only.drop_cause) == (
        "QueryFusionRetriever",
        "fusion",
        "fused_out",
    )
    fusion = watch.stages[-1]
    assert all(stage.parent_id == fusion.span_id for stage in watch.stages[:-1])


async def test_fusion_that_is_awaited(watch: Watch) -> None:
    """Arms that run in tasks of their own belong to the fusion that awaits them."""
    watch(selected_by=lambda question: "n1")
    await fused(BM25Retriever("n1", "n2"), Found("n3")).aretrieve("?")
    assert sorted(watch.kinds()) == ["fusion", "lexical", "retriever"]
    assert watch.only.verdict == "PASS"


@pytest.mark.skipif("Thread" not in inspect.getsource(async_utils.asyncio_run), reason="older versions raise")
async def test_fusion_in_a_thread_of_its_own(watch: Watch) -> None:
    """Called while an event loop runs, a fusion runs its arms in a thread: they belong to it all the same."""
    watch(selected_by=lambda question: "n1")
    fused(BM25Retriever("n1", "n2"), Found("n3"), use_async=True).retrieve("?")
    assert sorted(watch.kinds()) == ["fusion", "lexical", "retriever"]
    assert watch.only.verdict == "PASS"


async def test_concurrent_retrievals_keep_apart(watch: Watch) -> None:
    """Overlapping calls are handoffs of their own, with the stages of their own."""
    watch(selected_by=lambda question: question)
    await asyncio.gather(*(fused(BM25Retriever(each), Found(each)).aretrieve(each) for each in ("n1", "n2", "n3")))
    assert [assessment.verdict for assessment in watch.assessments] == ["PASS"] * 3
    assert [len(record.stages) for record in watch.records] == [3] * 3


def test_a_retriever_of_retrievers_has_them_inside(watch: Watch) -> None:
    """A retriever of the application that works on others' lists is fed by them: what it drops is lost at it."""
    watch(selected_by=lambda question: "n1")
    Joined(BM25Retriever("n1", "n2"), vector(1)).retrieve("?")
    assert [(stage.kind, stage.source) for stage in watch.stages][-1] == ("retriever", True)
    assert (watch.only.dropped_at, watch.stages[-1].name) == ("retriever", "Joined")


def test_merging_retriever_has_another_inside(watch: Watch) -> None:
    """LlamaIndex's own retrievers that work on others are fed by those, too."""
    watch()
    arm = vector()
    assert isinstance(arm, VectorIndexRetriever)
    merging = AutoMergingRetriever(arm, StorageContext.from_defaults(), verbose=False)
    merging.retrieve("?")
    assert [(stage.kind, stage.name, stage.source) for stage in watch.stages] == [
        ("vector", None, False),
        ("retriever", "AutoMergingRetriever", True),
    ]


def test_an_override_that_calls_what_it_extends_is_one_stage(watch: Watch) -> None:
    """A retriever that overrides the public method counts once, with what it returns in the end."""

    class Short(Found):
        def retrieve(self, str_or_query_bundle: Any) -> list[NodeWithScore]:
            return super().retrieve(str_or_query_bundle)[:1]

    watch()
    Short("n1", "n2").retrieve("?")
    assert [stage.returned for stage in watch.stages] == [("n1",)]


def test_ids_come_from_metadata_where_asked(watch: Watch) -> None:
    """With keys, the first that a node's metadata has is its ID; a node without them has its own."""
    watch(id_keys="doc,source")
    found = [
        NodeWithScore(node=TextNode(id_="a", metadata={"source": "s", "doc": "d"}), score=1.0),
        NodeWithScore(node=TextNode(id_="b", metadata={"source": "s"}), score=0.5),
        NodeWithScore(node=TextNode(id_="c"), score=0.2),
    ]
    Found(found=found).retrieve("?")
    assert watch.stages[0].returned == ("d", "s", "c")
    assert watch.stages[0].scores == (1.0, 0.5, 0.2)


def test_the_parent_document_is_no_id_unless_asked(watch: Watch) -> None:
    """Two chunks of one document are two objects."""
    watch()
    chunks = [TextNode(id_=raw, text=raw, metadata={"doc_id": "whole"}) for raw in ("c1", "c2")]
    Found(found=[NodeWithScore(node=chunk, score=1.0) for chunk in chunks]).retrieve("?")
    assert watch.stages[0].returned == ("c1", "c2")


@pytest.mark.parametrize(
    ("found", "ids"),
    [
        ([NodeWithScore(node=identified(None), score=1.0), *scored("n1")], ("", "n1")),
        ([NodeWithScore(node=identified(7), score=1.0), *scored("n1")], ("7", "n1")),
        ([NodeWithScore(node=node("n1"), score=math.nan)], ("n1",)),
        ([NodeWithScore(node=node("n1"))], ("n1",)),
        (iter(scored("n1", "n2")), ("n1", "n2")),
        ([], ()),
    ],
    ids=["no-id", "number", "nan", "no-score", "iterator", "empty"],
)
def test_odd_lists(watch: Watch, found: Any, ids: tuple[str, ...]) -> None:
    """A node without an ID keeps its slot; IDs are strings; scores that are none leave the scores out."""
    watch()
    returned = Found(found=found).retrieve("?")
    assert len(returned) == len(ids)
    assert watch.stages[0].returned == ids
    assert watch.diagnostics == []


def test_ids_that_collide_after_str(watch: Watch) -> None:
    """Two IDs that are one as text are a repeated ID, which is a finding and no crash."""
    watch()
    found = [NodeWithScore(node=identified(raw), score=1.0) for raw in (7, "7")]
    engine(Found(found=found)).query("?")
    assert "duplicate_ids" in {finding.code for finding in watch.only.findings}


def test_a_retriever_that_raises(watch: Watch) -> None:
    """The exception is the application's own, the stage is unreadable, and what comes next is a handoff of its own."""
    watch(selected_by=lambda question: "n1")
    raised = ConnectionError("no index")
    with pytest.raises(ConnectionError) as caught:
        engine(Found(found=raised)).query("?")
    assert caught.value is raised
    assert (watch.only.verdict, watch.stages[0].failed) == ("UNVERIFIABLE", True)
    Found("n1").retrieve("?")
    assert [assessment.verdict for assessment in watch.assessments] == ["UNVERIFIABLE", "PASS"]


async def test_a_retrieval_that_is_cancelled(watch: Watch) -> None:
    """A cancelled call ends its handoff, and leaves nothing current."""

    class Slow(Found):
        async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            started.set()
            await asyncio.Event().wait()
            raise AssertionError

    watch(selected_by=lambda question: "n1")
    started = asyncio.Event()
    task = asyncio.create_task(engine(Slow("n1")).aquery("?"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watch.only.verdict == "UNVERIFIABLE"
