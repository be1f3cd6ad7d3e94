"""Questions about the standard library, answered by a Haystack pipeline. It has no code for the monitor."""

from __future__ import annotations

import os

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # Haystack reads this when it is imported

import argparse
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from corpus import documents
from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from parts import Cut, ExtractiveAnswers, QuestionEmbedder, WordRanker, encoder

PROMPT = """
{% for document in documents %}[{{ loop.index }}] {{ document.content }}
{% endfor %}{{ question }}
"""
QUESTIONS = (
    "How do I find the n smallest elements with nsmallest?",
    "What does copytree do with a directory tree?",
    "Does mkdtemp or TemporaryDirectory create a temporary directory?",
    "What does put_nowait do if the queue is full?",
    "How does merge combine sorted inputs?",
)


@lru_cache(maxsize=1)
def names() -> dict[str, str]:
    """Return the full names of the objects by the last part; of several the first."""
    found: dict[str, str] = {}
    for document in documents():
        found.setdefault(document.id.rpartition(".")[2], document.id)
    return found


def link(question: str) -> str | None:
    """Return the object that a question names, None where it names none."""
    return next((names()[word] for word in re.findall(r"\w{4,}", question) if word in names()), None)


def selector(inputs: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the object that a question is about, from what the pipeline is run with."""
    return link(inputs["bm25"]["query"])


def embedded(corpus: list[Document]) -> list[Document]:
    """Return documents with the vectors of their contents."""
    vectors: list[list[float]] = []
    for start in range(0, len(corpus), 16):
        vectors += encoder().encode([document.content or "" for document in corpus[start : start + 16]])
    return [replace(document, embedding=vector) for document, vector in zip(corpus, vectors, strict=True)]


def build(*, fault: str | None = None) -> Callable[[str], object]:
    """Index the corpus and return what answers a question.

    Args:
        fault: ``prefix_cut`` cuts the list behind the reorder instead of before it.
    """
    store = InMemoryDocumentStore()
    store.write_documents(embedded(documents()))
    pipeline = connect(store, fault=fault)

    def ask(question: str) -> object:
        inputs = {"query": question}
        result = pipeline.run(
            {
                "bm25": inputs,
                "embedder": {"text": question},
                "ranker": inputs,
                "prompt": {"question": question},
                "answer": inputs,
            }
        )
        return result["answer"]["answers"][0]

    return ask


def connect(store: InMemoryDocumentStore, *, fault: str | None) -> Pipeline:
    """Return the pipeline on a store."""
    pipeline = Pipeline(metadata={"name": "haystack-qa"})
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=10))
    pipeline.add_component("embedder", QuestionEmbedder())
    pipeline.add_component("nearest", InMemoryEmbeddingRetriever(store, top_k=10))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=12))
    pipeline.add_component("ranker", WordRanker())
    pipeline.add_component("cut", Cut(keep=4))
    pipeline.add_component("reorder", LostInTheMiddleRanker())
    pipeline.add_component("prompt", PromptBuilder(PROMPT, required_variables=["documents", "question"]))
    pipeline.add_component("reader", ExtractiveAnswers())
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    first, last = ("reorder", "cut") if fault == "prefix_cut" else ("cut", "reorder")
    for sender, receiver in (
        ("embedder.embedding", "nearest.query_embedding"),
        ("bm25", "join"),
        ("nearest", "join"),
        ("join.documents", "ranker.documents"),
        ("ranker.documents", f"{first}.documents"),
        (f"{first}.documents", f"{last}.documents"),
        (f"{last}.documents", "prompt.documents"),
        ("prompt.prompt", "reader.prompt"),
        ("reader.replies", "answer.replies"),
        (f"{last}.documents", "answer.documents"),
    ):
        pipeline.connect(sender, receiver)
    return pipeline


def main() -> None:
    """Ask some questions."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("haystack").setLevel(logging.WARNING)
    parser = argparse.ArgumentParser(description="Ask some questions about the standard library.")
    parser.add_argument("--fault", choices=["prefix_cut"], help="cut the list behind the reorder instead of before it")
    ask = build(fault=parser.parse_args().fault)
    for question in QUESTIONS:
        answer = ask(question)
        print(f"{question}\n  {answer.data}\n  about {link(question)}, from {answer.documents[0].id}")


if __name__ == "__main__":
    main()
