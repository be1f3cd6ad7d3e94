"""What is read in the inputs and outputs of components."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document
from haystack.components.builders import AnswerBuilder
from haystack.dataclasses import ChatMessage
from rop_otel_haystack.reading import documents_of, filled_in, handed, ranked_by, references

A, B = Document(id="a", content="a"), Document(id="b", content="b")
PATTERN = r"\[(\d+)\]"


def test_a_joiner_is_handed_several_lists() -> None:
    """A list of lists is several lists, an empty one included."""
    assert handed({"documents": [[A], [], [B]], "top_k": 3}, ["documents"]) == [[A], [], [B]]


@pytest.mark.parametrize(("given", "lists"), [([A], [[A]]), ([], [[]]), (None, []), ("a", [])])
def test_others_are_handed_one(given: Any, lists: list[Any]) -> None:
    """A list is one list; an input that was not given is none."""
    assert handed({"documents": given}, ["documents"]) == lists


def test_a_template_may_have_its_documents_among_others() -> None:
    """Variables come as inputs and in ``template_variables``; what is no list of documents is none of them."""
    inputs = {"query": "?", "first": [A], "numbers": [1], "template_variables": {"second": [B]}}
    assert filled_in(inputs) == [A, B]
    assert filled_in({"query": "?", "template_variables": None}) is None


def test_documents_may_have_another_name() -> None:
    """An output of another name counts where it holds documents."""
    assert documents_of({"context_windows": ["a"], "context_documents": [A]}) == [A]
    assert documents_of({"documents": [], "rest": [A]}) == []
    assert documents_of({"documents": None}) is None


@pytest.mark.parametrize(
    ("replies", "found"),
    [
        (["See [1] and [02].", "And [1]."], ["1", "2", "1"]),
        ([ChatMessage.from_assistant("See [3].")], ["3"]),
        ([], []),
        (None, []),
    ],
)
def test_references_are_numbers_in_order(replies: Any, found: list[str]) -> None:
    """Every reply counts, repeats are kept, and a number is written in one way."""
    assert references(AnswerBuilder(reference_pattern=PATTERN), {"replies": replies}, {}) == found


def test_only_the_last_message_counts_where_the_builder_says_so() -> None:
    """References in what the builder leaves out are none."""
    builder = AnswerBuilder(reference_pattern=PATTERN)
    builder.last_message_only = True
    assert references(builder, {"replies": ["[1]", "[2]"]}, {}) == ["2"]


def test_ranges_are_those_that_the_builder_took_apart() -> None:
    """Where references are no numbers, the documents of the answers tell them."""

    class Answer:
        documents = (
            Document(content="a", meta={"source_index": 1, "referenced": True}),
            Document(content="b", meta={"source_index": 2, "referenced": True}),
            Document(content="c", meta={"source_index": 3, "referenced": False}),
        )

    inputs = {"replies": ["[1-2]"], "reference_pattern": r"\[(\d+(?:-\d+)?)\]"}
    assert references(AnswerBuilder(), inputs, {"answers": [Answer()]}) == ["1", "2"]


def test_without_a_pattern_there_are_no_references() -> None:
    """A builder that parses none has none."""
    assert references(AnswerBuilder(), {"replies": ["[1]"]}, {}) is None


@pytest.mark.parametrize(
    ("scores", "ranked"),
    [
        ([0.9, 0.5, 0.5], [0.9, 0.5, 0.5]),
        ([2], [2.0]),
        ([], []),
        ([0.1, 0.9], None),  # a distance, or what an earlier component left
        ([0.9, None], None),
        ([None], None),
        ([float("nan"), 0.1], None),
    ],
)
def test_scores_count_where_a_list_is_sorted_by_them(scores: list[Any], ranked: list[float] | None) -> None:
    """A list that is not sorted, highest first, has scores that are not its own."""
    assert ranked_by([Document(content="a", score=score) for score in scores]) == ranked
