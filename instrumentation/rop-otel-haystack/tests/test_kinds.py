"""What the name of a class says about a component."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from rop_otel_haystack.kinds import kind_of

SOURCES = {
    "InMemoryBM25Retriever": "lexical",
    "OpenSearchBM25Retriever": "lexical",
    "PgvectorKeywordRetriever": "lexical",
    "MongoDBAtlasFullTextRetriever": "lexical",
    "QdrantEmbeddingRetriever": "vector",
    "QdrantSparseEmbeddingRetriever": "retriever",
    "QdrantHybridRetriever": "retriever",
    "MultiQueryEmbeddingRetriever": "retriever",
    "FilterRetriever": "retriever",
    "SerperDevWebSearch": "retriever",
}
BETWEEN = {
    "DocumentJoiner": "fusion",
    "TransformersSimilarityRanker": "rerank",
    "MetaFieldRanker": "rerank",
    "MyReranker": "rerank",
    "LostInTheMiddleRanker": "reorder",
    "MetaFieldGroupingRanker": "reorder",
    "SentenceTransformersDiversityRanker": "mmr",
    "TopPSampler": "candidates",
    "SentenceWindowRetriever": "expansion",
    "AutoMergingRetriever": "expansion",
    "Redactor": "Redactor",
}


@pytest.mark.parametrize(("name", "kind"), SOURCES.items())
def test_sources(name: str, kind: str) -> None:
    """A component that takes no documents and returns some is a source, of the kind that its name tells."""
    assert kind_of(type(name, (), {}), takes=False, returns=True, inputs=frozenset({"query"})) == (kind, True)


@pytest.mark.parametrize(("name", "kind"), BETWEEN.items())
def test_components_between(name: str, kind: str) -> None:
    """A component that takes and returns documents is a stage, a custom one where its name tells nothing."""
    assert kind_of(type(name, (), {}), takes=True, returns=True, inputs=frozenset({"documents"})) == (kind, False)


def test_a_class_inherits_its_kind() -> None:
    """A retriever that inherits from a known one is of its kind, whatever its name."""

    @component
    class Notes(InMemoryBM25Retriever):
        """Notes."""

    assert kind_of(Notes, takes=False, returns=True, inputs=frozenset({"query"})) == ("lexical", True)


@pytest.mark.parametrize(("inputs", "kind"), [({"query"}, ("retriever", True)), ({"sources"}, None)])
def test_what_makes_documents_of_a_question_retrieves(inputs: set[str], kind: Any) -> None:
    """A component of one's own that is asked something retrieves; one that converts files does not."""
    assert kind_of(type("Notes", (), {}), takes=False, returns=True, inputs=frozenset(inputs)) == kind


def test_an_agent_is_no_stage() -> None:
    """What an agent has of documents in its state, its tools retrieved."""
    assert kind_of(type("Agent", (), {}), takes=True, returns=True, inputs=frozenset({"documents"})) is None


def test_what_returns_no_documents_is_no_stage() -> None:
    """A writer, or a reader that returns answers, is none."""
    assert kind_of(type("DocumentWriter", (), {}), takes=True, returns=False, inputs=frozenset({"documents"})) is None
