"""Answer questions about Python's standard library from its docstrings, with LangChain. It has no monitoring."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corpus import NAMES, read_docstrings
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
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
PROMPT = ChatPromptTemplate.from_template("Answer from the sources and cite them.\n\n{context}\n\nQuestion: {input}")
SOURCE = PromptTemplate.from_template("[{label}] {page_content}")


def words(text: str) -> list[str]:
    """Return the words of a text that say something."""
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP_WORDS]


def selector(inputs: Mapping[str, str]) -> str | None:
    """Return the documented object that a question names in backticks; it stands in front of the pipeline."""
    named = re.search(r"`([\w.]+)`", inputs["input"])
    return named[1] if named and named[1] in NAMES else None


class BM25Retriever(BaseRetriever):
    """Finds passages by their words."""

    passages: list[Document]
    index: Any
    k: int

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        scores = self.index.get_scores(words(query))
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: self.k]
        return [self.passages[place] for place in best]


class WordReranker(BaseDocumentCompressor):
    """Ranks by the share of the question's words that a passage holds."""

    top_n: int

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> Sequence[Document]:
        """Return the best passages."""
        asked = set(words(query))
        return sorted(documents, key=lambda each: -len(asked & set(words(each.page_content))))[: self.top_n]


class LongContextReorder(BaseDocumentTransformer):
    """Puts the best passages at both ends, where models read best, and the others in the middle."""

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Return all passages; of an even number of them the best is the last."""
        reordered: list[Document] = []
        for place, each in enumerate(reversed(documents)):
            reordered.insert(len(reordered) if place % 2 else 0, each)
        return reordered


def keep_first(documents: Sequence[Document]) -> list[Document]:
    """Return as many passages as the prompt may hold."""
    return list(documents[:SHOWN])


def number(documents: Sequence[Document]) -> list[Document]:
    """Return the passages with the labels that an answer cites."""
    return [
        each.model_copy(update={"metadata": {**each.metadata, "label": f"S{place}"}})
        for place, each in enumerate(documents, 1)
    ]


def extract(prompt: PromptValue) -> str:
    """Stand in for a language model: cite the sentence of the prompt's sources that has most of the question."""
    sources, _, question = prompt.to_string().rpartition("Question:")
    asked = set(words(question))
    sentences = [
        (len(asked & set(words(sentence))) / (len(words(sentence)) + 5), label, " ".join(sentence.split()))
        for label, text in re.findall(r"\[(S\d+)\] (.*?)(?=\n\n\[S\d+\] |\Z)", sources, re.DOTALL)
        for sentence in re.split(r"(?<=\.)\s+|\n\n", text)
    ]
    _, label, sentence = max(sentences, key=lambda each: each[0], default=(0.0, "", "I found nothing."))
    return f"{sentence} [{label}]" if label else sentence


def build(fault: str | None = None) -> Callable[[str], object]:
    """Return the pipeline, a function from a question to its answer.

    Args:
        fault: ``prefix_cut`` cuts after the reorder, which has put the best passage last, instead of before it.
    """
    passages = read_docstrings()
    store = InMemoryVectorStore(MiniLM())
    store.add_documents(passages)
    by_words = BM25Retriever(passages=passages, index=BM25Okapi([words(each.page_content) for each in passages]), k=10)
    by_meaning = store.as_retriever(search_kwargs={"k": 10})
    reranked = ContextualCompressionRetriever(
        base_retriever=EnsembleRetriever(retrievers=[by_words, by_meaning]), base_compressor=WordReranker(top_n=6)
    )
    cut, reorder = RunnableLambda(keep_first), RunnableLambda(LongContextReorder().transform_documents)
    ordered = reorder | cut if fault == "prefix_cut" else cut | reorder
    asked = RunnableLambda(lambda inputs: inputs["input"])
    chain = create_retrieval_chain(
        asked | reranked | ordered | RunnableLambda(number),
        create_stuff_documents_chain(RunnableLambda(extract), PROMPT, document_prompt=SOURCE),
    )
    return lambda question: chain.invoke({"input": question})["answer"]


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
