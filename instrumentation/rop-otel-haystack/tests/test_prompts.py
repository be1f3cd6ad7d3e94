"""Which documents a built prompt shows."""

from __future__ import annotations

from typing import Any

import pytest
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage

EACH = "{% for document in documents %}[{{ loop.index }}] {{ document.content }}\n{% endfor %}"
FIRST = EACH.replace("documents", "documents[:1]")


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
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at packing: packing left it out"


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
    ["{{ document.content|upper }}", "{{ document.content|tojson }}", "{{ document }}", "{{ document.content|e }}"],
)
def test_the_writing_of_a_text_makes_no_difference(selecting: Any, parts: Any, shown: str) -> None:
    """A text is found in other letters, escaped, and among other fields of its document."""
    watch = selecting("shield")
    ask(parts, PromptBuilder(EACH.replace("{{ document.content }}", shown), required_variables=["documents"]))
    assert (watch.only.verdict, watch.only.findings) == ("PASS", ())
    assert len(watch.only.shown.ids) == 3


@pytest.mark.parametrize(
    "shown", ["{{ document.id }}", "{{ document.meta }}", "{{ document.contents }}", "{{ doc.content }}", "[...]"]
)
def test_a_prompt_that_holds_no_text_of_them_is_an_error(selecting: Any, parts: Any, shown: str) -> None:
    """Whatever the template writes of documents, without their text nobody can say that one was shown."""
    watch = selecting("shield")
    ask(parts, PromptBuilder(EACH.replace("{{ document.content }}", shown), required_variables=None))
    assert watch.only.verdict == "UNVERIFIABLE"
    assert "context_not_in_prompt" in {finding.code.value for finding in watch.only.findings}


def test_what_is_shown_in_another_form_is_taken_for_shown_where_the_user_says_so(selecting: Any, parts: Any) -> None:
    """With ``shows="rewritten"`` no text is looked for."""
    watch = selecting("shield", shows="rewritten")
    ask(parts, PromptBuilder(EACH.replace(".content", ".meta"), required_variables=["documents"]))
    assert (watch.only.verdict, watch.only.findings, watch.only.shown.basis) == ("PASS", (), "assumed")


@pytest.mark.parametrize(("length", "verdict"), [(20, "UNVERIFIABLE"), (30, "PASS")])
def test_the_piece_of_a_document_that_is_shown_counts(selecting: Any, parts: Any, length: int, verdict: str) -> None:
    """Where a template cuts each text, six words of it are enough to be shown in part."""
    watch = selecting("timeouts")
    template = EACH.replace("content", f"content|truncate({length}, true, '', 0)")
    ask(parts, PromptBuilder(template, required_variables=["documents"]))
    assert watch.only.verdict == verdict


def test_a_template_that_leaves_out_the_first_one(selecting: Any, parts: Any) -> None:
    """It numbers the others from 1, and a reference to the first one leads to the one that was left out."""
    watch = selecting("timeouts")
    ask(parts, PromptBuilder(EACH.replace("documents", "documents[1:]"), required_variables=["documents"]))
    assert watch.only.dropped_at == "packing"
    assert {finding.code.value for finding in watch.only.findings} == {"label_misattributed", "top_ranked_cut"}
