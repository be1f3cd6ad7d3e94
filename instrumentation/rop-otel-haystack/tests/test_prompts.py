"""Which documents a built prompt shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from haystack import Document
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from rop_otel_haystack.reading import left_in

EACH = "{% for document in documents %}[{{ loop.index }}] {{ document.content }}\n{% endfor %}"
FIRST = EACH.replace("documents", "documents[:1]")
A = Document(id="a", content="wait for a task and cancel it after a timeout")
B = Document(id="b", content="a queue hands work from one task to another, one by one")


def ask(parts: Any, builder: Any, **inputs: Any) -> Any:
    """Run a pipeline that finds three documents, builds a prompt of them and answers with all of them attached."""
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=3))
    pipeline.add_component("prompt", builder)
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("bm25.documents", "prompt.documents")
    pipeline.connect("bm25.documents", "answer.documents")
    answer = {"query": "?", "replies": ["See [1]."]}
    return pipeline.run({"bm25": {"query": parts.QUERY}, "answer": answer, "prompt": inputs}, {"prompt"})["prompt"]


@pytest.mark.parametrize("chat", [False, True])
def test_what_a_template_leaves_out_is_lost_there(selecting: Any, parts: Any, chat: bool) -> None:
    """A document that the template cuts away was not shown, though it was handed to the template."""
    watch = selecting("shield")
    if chat:
        messages = [ChatMessage.from_system("Be brief."), ChatMessage.from_user(FIRST)]
        builder: Any = ChatPromptBuilder(messages, required_variables=["documents"])
    else:
        builder = PromptBuilder(FIRST, required_variables=["documents"])
    built = ask(parts, builder)
    assert "[2]" not in str(built)
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at packing (over_budget)"


def test_what_a_template_shows_was_shown(selecting: Any, parts: Any) -> None:
    """Beside a document that is left out, the one that stands in the prompt reached the reader."""
    watch = selecting("timeouts")
    ask(parts, PromptBuilder(FIRST, required_variables=["documents"]))
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 1"
    assert watch.only.shown.ids == ("timeouts",)


def test_a_template_that_comes_with_the_question(selecting: Any, parts: Any) -> None:
    """What counts is the prompt that was built, from whatever template."""
    watch = selecting("shield")
    ask(parts, PromptBuilder(EACH, required_variables=["documents"]), template=FIRST)
    assert watch.only.dropped_at == "packing"


@pytest.mark.parametrize(
    "shown",
    [
        "{{ document.id }}",
        "{{ document.meta }}",
        "{{ document.content|upper }}",
        "{{ document.content|truncate(30) }}",
        "{{ document.content|replace(' ', '') }}",
        "{{ document.content|tojson }}",
        "{{ document }}",
    ],
)
def test_what_a_template_writes_anew_counts_as_shown(selecting: Any, parts: Any, shown: str) -> None:
    """Where a prompt holds no text of documents, or in another writing, all that it was given counts as shown."""
    watch = selecting("shield")
    ask(parts, PromptBuilder(EACH.replace("{{ document.content }}", shown), required_variables=["documents"]))
    assert watch.only.verdict == "PASS"
    assert len(watch.only.shown.ids) == 3


def test_places_after_a_document_that_is_left_out_are_no_labels(selecting: Any, parts: Any) -> None:
    """Of a template that leaves out the first document nobody knows how it numbers the others."""
    watch = selecting("timeouts")
    ask(parts, PromptBuilder(EACH.replace("documents", "documents[1:]"), required_variables=["documents"]))
    assert watch.only.dropped_at == "packing"
    assert watch.only.citations.resolved == 0
    assert [finding.code for finding in watch.only.findings] == ["top_ranked_cut"]


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        (A.content, [A]),
        (f"{B.content}\n{A.content}", [A, B]),
        (f"{A.content} {B.content and B.content.upper()}", [A, B]),
        (json.dumps({"context": B.content}), [B]),
        ([ChatMessage.from_system(A.content or ""), ChatMessage.from_user("?")], [A]),
        ("nothing of them", [A, B]),
        ("", [A, B]),
        ([], [A, B]),
        (None, [A, B]),
    ],
)
def test_left_in(prompt: Any, left: list[Document]) -> None:
    """Documents stay in their order; all stay where it is not known which the prompt shows."""
    assert left_in([A, B], {"prompt": prompt}) == left


def test_a_document_without_text_stays() -> None:
    """An image has no text that could be looked for."""
    image = Document(id="i", content=None)
    assert left_in([image, A, B], {"prompt": A.content}) == [image, A]
    assert left_in([image], {"prompt": "?"}) == [image]
    assert left_in([A, None, B], {"prompt": A.content}) == [A, None]
