"""Answer questions about Python's standard library from its docstrings, with LlamaIndex. It has no monitoring."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable
from typing import Any

from corpus import NAMES, read_docstrings
from llama_index.core import QueryBundle, VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore
from minilm import MiniLM
from rank_bm25 import BM25Okapi

QUESTIONS = (
    "How do I delete an entire directory tree with `shutil.rmtree`?",
    "How do I find the n largest elements of a dataset with `heapq.nlargest`?",
    "How do I wrap the words of a paragraph into lines with `textwrap.wrap`?",
    "How do I put an item into a queue without blocking with `queue.Queue.put_nowait`?",
)
SHOWN = 4
STOP_WORDS = frozenset("a an and can do does for from how i if in into is it of on or that the to what with".split())


def words(text: str) -> list[str]:
    """Return the words of a text that say something."""
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP_WORDS]


def selector(question: str) -> str | None:
    """Return the documented object that a question names in backticks; it stands in front of the pipeline."""
    named = re.search(r"`([\w.]+)`", question)
    return named[1] if named and named[1] in NAMES else None


class BM25Retriever(BaseRetriever):
    """Finds passages by their words."""

    def __init__(self, nodes: list[BaseNode], top_k: int) -> None:
        self._nodes = nodes
        self._top_k = top_k
        self._index = BM25Okapi([words(node.get_content()) for node in nodes])
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        scores = self._index.get_scores(words(query_bundle.query_str))
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: self._top_k]
        return [NodeWithScore(node=self._nodes[place], score=float(scores[place])) for place in best]


class WordReranker(BaseNodePostprocessor):
    """Ranks by the share of the question's words that a passage holds."""

    top_n: int

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        asked = set(words(query_bundle.query_str if query_bundle else ""))
        ranked = [
            NodeWithScore(node=each.node, score=len(asked & set(words(each.get_content()))) / max(len(asked), 1))
            for each in nodes
        ]
        return sorted(ranked, key=lambda each: -(each.score or 0.0))[: self.top_n]


class KeepFirst(BaseNodePostprocessor):
    """Keeps the first passages."""

    count: int

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[: self.count]


class Extractor(CustomLLM):
    """Stands in for a language model: it cites the sentence of the prompt's sources that has most of the question."""

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex asks of a model."""
        return LLMMetadata(context_window=8192, num_output=256, model_name="extractor")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the best sentence, with the number of its source."""
        _, _, prompt = prompt.rpartition("Below are several numbered sources of information:")
        sources, _, question = prompt.rpartition("Query:")
        asked = set(words(question.partition("Answer:")[0]))
        numbered = re.findall(r"Source (\d+):\n(.*?)(?=\nSource \d+:\n|\Z)", sources.replace("------", ""), re.DOTALL)
        sentences = [
            (len(asked & set(words(sentence))) / (len(words(sentence)) + 5), number, " ".join(sentence.split()))
            for number, text in numbered
            for sentence in re.split(r"(?<=\.)\s+|\n\n", text)
        ]
        _, number, sentence = max(sentences, key=lambda each: each[0], default=(0.0, "", "I found nothing."))
        return CompletionResponse(text=f"{sentence} [{number}]" if number else sentence)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Return the same, in one piece."""
        yield self.complete(prompt, formatted, **kwargs)


def build(fault: str | None = None) -> Callable[[str], object]:
    """Return the pipeline, a function from a question to its answer.

    Args:
        fault: ``prefix_cut`` cuts after the reorder, which has put the best passage last, instead of before it.
    """
    nodes: list[BaseNode] = [*read_docstrings()]
    index = VectorStoreIndex(nodes, embed_model=MiniLM())
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=10), BM25Retriever(nodes, top_k=10)],
        llm=Extractor(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        num_queries=1,
        similarity_top_k=12,
        use_async=False,
    )
    cut, reorder = KeepFirst(count=SHOWN), LongContextReorder()
    engine = CitationQueryEngine(
        fusion,
        llm=Extractor(),
        node_postprocessors=[WordReranker(top_n=6), *([reorder, cut] if fault == "prefix_cut" else [cut, reorder])],
    )
    return engine.query


def main() -> None:
    """Answer a few questions."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--fault", choices=["prefix_cut"], help="break the pipeline")
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    answer = build(arguments.parse_args().fault)
    for question in QUESTIONS:
        print(question)
        print(f"  {answer(question)}")


if __name__ == "__main__":
    main()
