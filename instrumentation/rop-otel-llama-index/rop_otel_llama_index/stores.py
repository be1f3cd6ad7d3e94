"""Searches of vector stores that code makes by itself, where no retriever of LlamaIndex's own makes them for it."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import NodeWithScore

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
