"""What is seen of node postprocessors: each is a stage of its own, awaited or not."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import MockEmbedding, QueryBundle
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import (
    FixedRecencyPostprocessor,
    LLMRerank,
    LongContextReorder,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    SentenceEmbeddingOptimizer,
    SimilarityPostprocessor,
    TimeWeightedPostprocessor,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index_parts import BM25Retriever, KeepFirst, Watch, WordRerank, engine
from rop_otel_llama_index.kinds import postprocessor

from rop_otel.instrumenting import Settings


class OwnReorder(LongContextReorder):
    """A class of the application that extends one of LlamaIndex."""


class Awaited(WordRerank):
    """A reranker that has a way of its own to be awaited."""

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[:1]


class Broken(BaseNodePostprocessor):
    """Raises."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        raise ConnectionError("no reranker")


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (lambda: FixedRecencyPostprocessor(), "rerank"),
        (lambda: KeepFirst(count=1), "KeepFirst"),
        (lambda: LLMRerank(llm=MockLLM()), "rerank"),
        (lambda: LongContextReorder(), "reorder"),
        (lambda: MetadataReplacementPostProcessor(target_metadata_key="window"), "MetadataReplacementPostProcessor"),
        (lambda: OwnReorder(), "reorder"),
        (lambda: PrevNextNodePostprocessor(docstore=SimpleDocumentStore()), "expansion"),
        (
            lambda: SentenceEmbeddingOptimizer(embed_model=MockEmbedding(4), tokenizer_fn=str.split),
            "sentence_selection",
        ),
        (lambda: SimilarityPostprocessor(similarity_cutoff=0.5), "candidates"),
        (lambda: TimeWeightedPostprocessor(), "boost"),
        (lambda: WordRerank(), "rerank"),
    ],
)
def test_kinds(made: Any, kind: str) -> None:
    """Each postprocessor is the stage that it is, and one that is not known is called as its class."""
    assert postprocessor(made(), Settings()) == kind


def test_each_postprocessor_is_a_stage(watch: Watch) -> None:
    """Postprocessors are stages in their order, each with what it is handed and returns."""
    watch(selected_by=lambda question: "n1")
    engine(BM25Retriever("n1", "n2", "n3", "n4"), WordRerank(), LongContextReorder(), KeepFirst(count=2)).query("?")
    assert watch.kinds() == ["lexical", "rerank", "reorder", "KeepFirst", "packing"]
    assert watch.stages[1].input == ("n1", "n2", "n3", "n4")
    assert watch.stages[1].returned == ("n4", "n3", "n2")
    assert watch.stages[1].implementation == "WordRerank"
    assert str(watch.only).startswith(
        "RetrieverQueryEngine: FAIL, the selected object was lost at rerank: the reranker put it too low"
    )


def test_kinds_that_the_user_tells(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """``ROP_OTEL_STAGES`` says what a class is, before what its name or its base class says, or that it is no stage."""
    monkeypatch.setenv("ROP_OTEL_STAGES", "Found=sql, KeepFirst=candidates, LongContextReorder=")
    watch(selected_by=lambda question: "n1")
    engine(BM25Retriever("n1", "n2", "n3", "n4"), LongContextReorder(), KeepFirst(count=2)).query("?")
    assert [(stage.kind, stage.source) for stage in watch.stages] == [
        ("sql", True),
        ("candidates", False),
        ("packing", False),
    ]


def test_a_retriever_that_is_told_to_be_no_stage(watch: Watch) -> None:
    """What it returns is no stage, also where it is the topmost call."""
    watch(stages={"BM25Retriever": None})
    assert len(BM25Retriever("n1").retrieve("?")) == 1
    assert watch.stages == []


def test_a_cut_after_the_reorder_is_named(watch: Watch) -> None:
    """A cut of the application's own is named by its class, and loses the best passage."""
    watch(selected_by=lambda question: "n1")
    engine(BM25Retriever("n1", "n2", "n3", "n4"), LongContextReorder(), KeepFirst(count=2)).query("?")
    assert (watch.only.dropped_at, watch.only.drop_cause) == ("KeepFirst", "dropped")
    assert "top_ranked_cut" in {finding.code for finding in watch.only.findings}


@pytest.mark.skipif(not hasattr(BaseNodePostprocessor, "apostprocess_nodes"), reason="older versions await none")
@pytest.mark.parametrize(("made", "returned"), [(Awaited, ("n1",)), (WordRerank, ("n3", "n2", "n1"))])
async def test_a_postprocessor_with_a_way_of_its_own(watch: Watch, made: Any, returned: tuple[str, ...]) -> None:
    """It is one stage, whether its class has a way of its own to be awaited or runs in a thread."""
    watch()
    await engine(BM25Retriever("n1", "n2", "n3"), made()).aquery("?")
    assert watch.kinds() == ["lexical", "rerank", "packing"]
    assert watch.stages[1].returned == returned


async def test_a_postprocessor_that_is_awaited(watch: Watch) -> None:
    """Below an engine that is awaited it is one stage, in whichever way the version calls it."""
    watch()
    await engine(BM25Retriever("n1", "n2", "n3"), WordRerank()).aquery("?")
    assert watch.kinds() == ["lexical", "rerank", "packing"]


async def test_a_postprocessor_that_raises(watch: Watch) -> None:
    """The exception is the application's own, and nothing stays current."""
    watch(selected_by=lambda question: "n1")
    built = engine(BM25Retriever("n1"), Broken())
    with pytest.raises(ConnectionError, match="no reranker"):
        built.query("?")
    with pytest.raises(ConnectionError, match="no reranker"):
        await built.aquery("?")
    assert [assessment.verdict for assessment in watch.assessments] == ["UNVERIFIABLE"] * 2
    assert [stage.failed for stage in watch.records[0].stages] == [False, True]
    assert [stage.kind for stage in watch.records[1].stages] == ["lexical", "Broken"]


def test_a_cut_that_no_part_makes_is_silent(watch: Watch) -> None:
    """What an application cuts between two parts is told from what the second one loses."""
    watch(selected_by=lambda question: "n2")
    built = engine(BM25Retriever("n1", "n2"), LongContextReorder())
    apply = built._apply_node_postprocessors
    built._apply_node_postprocessors = lambda nodes, query_bundle: apply(nodes[:1], query_bundle)  # type: ignore[method-assign]
    built.query("?")
    assert (watch.only.dropped_at, watch.only.drop_cause) == ("reorder", "silent_cut")
