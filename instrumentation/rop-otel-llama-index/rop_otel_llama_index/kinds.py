"""Which stage each part of LlamaIndex is, known by its class; a class of the application counts as what it extends."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from rop_otel.instrumenting import Kind, Settings, kinds

RETRIEVER: Final = "retriever"

_RETRIEVERS: Final = {
    "BM25Retriever": kinds.LEXICAL,
    "BaseKeywordTableRetriever": kinds.LEXICAL,
    "DocumentSummaryIndexEmbeddingRetriever": kinds.VECTOR,
    "MultiModalVectorIndexRetriever": kinds.VECTOR,
    "QueryFusionRetriever": kinds.FUSION,
    "SummaryIndexEmbeddingRetriever": kinds.VECTOR,
    "TreeSelectLeafEmbeddingRetriever": kinds.VECTOR,
    "VectorContextRetriever": kinds.VECTOR,
    "VectorIndexRetriever": kinds.VECTOR,
}
_POSTPROCESSORS: Final = {
    "AutoPrevNextNodePostprocessor": kinds.EXPANSION,
    "FixedRecencyPostprocessor": kinds.RERANK,
    "KeywordNodePostprocessor": kinds.CANDIDATES,
    "LongContextReorder": kinds.REORDER,
    "PrevNextNodePostprocessor": kinds.EXPANSION,
    "SentenceEmbeddingOptimizer": kinds.SENTENCE_SELECTION,
    "SimilarityPostprocessor": kinds.CANDIDATES,
    "TimeWeightedPostprocessor": kinds.BOOST,
}
_RERANKER: Final = re.compile(r"rerank(er)?$", re.IGNORECASE)
"""Rerankers are many, and most are in packages of their own; all are named so."""

_LEXICAL_MODES: Final = frozenset({"sparse", "text_search"})
_MIXED_MODES: Final = frozenset({"hybrid", "semantic_hybrid"})
"""Ways in which one call of a vector store looks for vectors and words, so that it is neither source."""

_SEVERAL: Final = frozenset(
    {
        "FLAREInstructQueryEngine",
        "MultiStepQueryEngine",
        "RetryGuidelineQueryEngine",
        "RetryQueryEngine",
        "RetrySourceQueryEngine",
        "RouterQueryEngine",
        "SubQuestionQueryEngine",
    }
)


def retriever(instance: Any, settings: Settings) -> Kind | None:
    """Return what a retriever is; None where it is no stage.

    Args:
        instance: The retriever.
        settings: The user's, which may give its kind.
    """
    key = settings.key_of(instance.__class__)
    if key is not None:
        said = settings.stages[key]
        return None if said is None else Kind(said, source=True)
    kind = _retriever_kind(instance.__class__)
    if kind == kinds.VECTOR:
        return _in_mode(getattr(instance, "_vector_store_query_mode", None), instance)
    return custom(instance) if kind is None else Kind(kind)


def custom(instance: object) -> Kind:
    """Return what finds documents in a way of its own."""
    return Kind(RETRIEVER, source=True, name=type(instance).__name__)


def store(instance: Any, query: Any) -> Kind:
    """Return what a search of a vector store is.

    Args:
        instance: The store.
        query: What it is asked.
    """
    return _in_mode(getattr(query, "mode", None), instance)


def searches(instance: Any) -> bool:
    """Return whether a retriever is the search itself: one of LlamaIndex's own, which drops nothing of it."""
    cls = instance.__class__
    return cls.__module__.startswith("llama_index.") and _retriever_kind(cls) in (kinds.VECTOR, kinds.LEXICAL)


def _in_mode(mode: Any, instance: object) -> Kind:
    mode = getattr(mode, "value", mode)
    if mode in _MIXED_MODES:
        return custom(instance)
    return Kind(kinds.LEXICAL if mode in _LEXICAL_MODES else kinds.VECTOR)


def postprocessor(instance: Any, settings: Settings) -> str | None:
    """Return what kind of stage a node postprocessor is; one that is not known is its own, called as its class.

    Args:
        instance: The postprocessor.
        settings: The user's, which may give its kind; None where it says that it is no stage.
    """
    key = settings.key_of(instance.__class__)
    if key is not None:
        return settings.stages[key]
    return _postprocessor_kind(instance.__class__) or type(instance).__name__


def asks_several_times(instance: object) -> bool:
    """Return whether a query engine puts questions of its own to other query engines, each a round."""
    return any(base.__name__ in _SEVERAL for base in type(instance).__mro__)


@lru_cache(maxsize=256)
def _retriever_kind(cls: type) -> str | None:
    return next((_RETRIEVERS[base.__name__] for base in cls.__mro__ if base.__name__ in _RETRIEVERS), None)


@lru_cache(maxsize=256)
def _postprocessor_kind(cls: type) -> str | None:
    for base in cls.__mro__:
        if base.__name__ in _POSTPROCESSORS:
            return _POSTPROCESSORS[base.__name__]
        if _RERANKER.search(base.__name__):
            return kinds.RERANK
    return None
