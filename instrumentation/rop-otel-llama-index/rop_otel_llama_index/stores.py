"""Searches of vector stores that code makes by itself, where no retriever of LlamaIndex's own makes them for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from rop_otel_llama_index.watched import Listing


class Search(Listing):
    """One search of a vector store."""

    def returned(self, result: Any) -> None:
        """Take in the nodes, else their IDs, which are all that some stores have."""
        if result.nodes is None:
            self.stage.returned(list(result.ids or ()), scores=result.similarities)
        else:
            scores = result.similarities or [None] * len(result.nodes)
            super().returned(
                [NodeWithScore(node=node, score=score) for node, score in zip(result.nodes, scores, strict=True)]
            )


class Stores:
    """Wraps the classes of vector stores, each as soon as there is one: a store may be imported at any time.

    Args:
        wrap: Wraps the methods of a class that search.
    """

    def __init__(self, wrap: Callable[[type], None]) -> None:
        self._wrap = wrap
        self._wrapped: set[type] = set()

    def look(self) -> None:
        """Wrap the classes that are new."""
        for each in _below(BasePydanticVectorStore):
            if each not in self._wrapped:
                self._wrapped.add(each)
                self._wrap(each)


def _below(base: type) -> Iterator[type]:
    below: list[type] = type.__subclasses__(base)
    for each in below:
        yield each
        yield from _below(each)
