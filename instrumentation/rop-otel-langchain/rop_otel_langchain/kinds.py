"""Which kind of stage a component is, by the name of its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from weakref import WeakKeyDictionary

from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from rop_otel.instrumenting import Kind, Settings, kinds

RETRIEVER: Final = "retriever"
FUNCTION: Final = "function"
TRANSFORMER: Final = "transformer"

NAMED: Final[Mapping[str, str]] = {
    # Retrievers that search by words
    "BM25Retriever": kinds.LEXICAL,
    "BM25SRetriever": kinds.LEXICAL,
    "TFIDFRetriever": kinds.LEXICAL,
    "ElasticSearchBM25Retriever": kinds.LEXICAL,
    # Retrievers that search by vectors
    "VectorStoreRetriever": kinds.VECTOR,
    "KNNRetriever": kinds.VECTOR,
    "SVMRetriever": kinds.VECTOR,
    # Retrievers over others
    "EnsembleRetriever": kinds.FUSION,
    "MergerRetriever": kinds.FUSION,
    "MultiQueryRetriever": kinds.FUSION,
    "MultiVectorRetriever": kinds.EXPANSION,
    # Compressors that are no rerankers
    "EmbeddingsFilter": kinds.CANDIDATES,
    "LLMChainFilter": kinds.CANDIDATES,
    "LLMChainExtractor": kinds.SENTENCE_SELECTION,
    # Transformers
    "LongContextReorder": kinds.REORDER,
    "EmbeddingsRedundantFilter": kinds.CANDIDATES,
    "EmbeddingsClusteringFilter": kinds.MMR,
}
"""Kinds by class; a subclass is what its nearest base class in this table is."""

TRANSPARENT: Final = frozenset({"ContextualCompressionRetriever", "DocumentCompressorPipeline"})
"""Classes that only run others, each of which is a stage, one after another; a subclass of one is a stage."""


class Kinds:
    """Knows the kind of each component.

    Args:
        settings: The user's, which may give the kinds of classes and functions.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()

    def of(self, component: object) -> Kind | None:
        """Return what a component is; None where it is no stage."""
        owner = type(component)
        try:
            kind = self._known[owner]
        except KeyError:
            kind = self._known[owner] = self._find(owner)
        if kind is None:
            return None
        return Kind(kind, source=isinstance(component, BaseRetriever | VectorStore))

    def of_function(self, name: str, default: str) -> str | None:
        """Return the kind of a function in a chain; None where it is no stage."""
        return self._settings.stages.get(name, default)

    def _find(self, owner: type) -> str | None:
        key = self._settings.key_of(owner)
        if key is not None:
            return self._settings.stages[key]
        if owner.__name__ in TRANSPARENT:
            return None
        for each in owner.__mro__:
            if each.__name__ in NAMED:
                return NAMED[each.__name__]
        if issubclass(owner, BaseDocumentCompressor):
            return kinds.RERANK
        if issubclass(owner, VectorStore):
            return kinds.VECTOR
        return TRANSFORMER if issubclass(owner, BaseDocumentTransformer) else RETRIEVER
