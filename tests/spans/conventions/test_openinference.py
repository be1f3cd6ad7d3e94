"""OpenInference's spans read as stages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rop_otel import semconv
from rop_otel.spans.conventions import Rules
from tests.spans.conventions import foreign
from tests.spans.conventions.foreign import Document, documents, flattened, read, reranker, retriever, stage_of
from tests.spans.trace import span


@pytest.mark.parametrize("form", [foreign.flattened, foreign.structured, foreign.as_json])
def test_documents_in_any_form(form: Callable[[str, list[Document]], dict[str, object]]) -> None:
    """Flattened, structured and as one JSON string, the same documents give the same IDs and scores in order."""
    found = form("retrieval.documents", documents("b", "a", "c"))
    stage = stage_of(span(1, name="Search", attributes={"openinference.span.kind": "RETRIEVER", **found}))
    assert (stage.kind, stage.name, stage.source, stage.foreign) == ("retriever", "Search", True, True)
    assert stage.returned == ("b", "a", "c")
    assert stage.scores == (1.0, 0.9, 0.8)


def test_more_than_ten_flattened_documents_keep_their_order() -> None:
    """Places are numbers, not text: the tenth document stands behind the second."""
    ids = [f"d{place}" for place in range(12)]
    assert stage_of(retriever(1, *ids)).returned == tuple(ids)


def test_a_reranker_has_its_recorded_input() -> None:
    """A reranker is handed and returns what its span records, and names its model."""
    stage = stage_of(reranker(1, "a b c", "c", "a", given={"reranker.model_name": "cross"}))
    assert (stage.kind, stage.input, stage.returned) == ("rerank", ("a", "b", "c"), ("c", "a"))
    assert stage.implementation == "cross"


def test_a_document_without_an_id_keeps_its_place() -> None:
    """A document without an ID is an empty one; a list without any ID is unreadable."""
    assert stage_of(retriever(1, None, "b")).returned == ("", "b")
    assert stage_of(retriever(1, None, None)).returned is None


def test_a_retriever_without_documents_is_unreadable() -> None:
    """An empty list and one that was not recorded look alike, so neither is taken for the other."""
    assert stage_of(retriever(1)).returned is None
    given: dict[str, object] = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": "[]"}
    assert stage_of(span(1, attributes=given)).returned == ()


def test_a_missing_score_leaves_the_scores_out() -> None:
    """One document without a score leaves those of the list out; the IDs stay."""
    found = flattened("retrieval.documents", [{"id": 7, "score": 0.5}, {"id": 1.5, "content": "text"}])
    stage = stage_of(span(1, attributes={"openinference.span.kind": "RETRIEVER", **found}))
    assert (stage.returned, stage.scores) == (("7", "1.5"), None)


@pytest.mark.parametrize("value", ["not JSON", "{}", 7, [[["deep"]]], "[" * 100_000, ["text", "more text"], [None]])
def test_documents_that_cannot_be_read(value: object) -> None:
    """Whatever stands where documents should be is no error: the list is unreadable."""
    given = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": value}
    assert stage_of(span(1, attributes=given)).returned is None


def test_attributes_lost_to_a_limit() -> None:
    """Where the first documents and the kind were evicted the list is cut before them, so that nothing is concluded."""
    whole = flattened("retrieval.documents", documents(*(f"d{place}" for place in range(60))))
    rest = dict(list(whole.items())[-128:])
    stage = stage_of(span(1, attributes=rest, dropped_attributes=len(whole) - 127))
    assert (stage.kind, stage.returned, stage.returned_count) == ("retriever", (), 60)


def test_a_document_that_may_have_lost_its_id() -> None:
    """Where attributes were lost, a list ends before the document whose ID may be among them."""
    stage = stage_of(retriever(1, "a", None, "c", dropped_attributes=1))
    assert (stage.returned, stage.returned_count) == (("a",), 3)
    assert stage_of(retriever(1, "a", "b", dropped_attributes=1)).returned_count == 3


def test_a_gap_cuts_the_list() -> None:
    """A place far out costs no memory: what lies between is not known."""
    far = {"retrieval.documents.99999999.document.id": "z"}
    stage = stage_of(retriever(1, "a", given=far))
    assert (stage.returned, stage.returned_count) == (("a",), 100_000_000)


def test_ids_from_metadata() -> None:
    """The first of the named metadata keys that is present is the ID, before the document's own."""
    found: list[Document] = [
        {"id": "x", "metadata": {"source": "s1"}},
        {"id": "y", "metadata": {"key": 2, "source": "s2"}},
        {"id": "z"},
    ]
    given: dict[str, object] = {"openinference.span.kind": "RETRIEVER", **flattened("retrieval.documents", found)}
    assert stage_of(span(1, attributes=given), Rules(id_keys=("key", "source"))).returned == ("s1", "2", "z")
    assert stage_of(span(1, attributes=given)).returned == ("x", "y", "z")


def test_our_attributes_count_before_what_is_read() -> None:
    """A round or a list set by hand stands; a span that our attributes describe is none of the convention's."""
    stage = stage_of(retriever(1, "a", given={semconv.ROUND: 2, semconv.RETURNED_IDS: ["mine"]}))
    assert (stage.round, stage.returned) == (2, ("mine",))
    assert read(retriever(1, "a", given={semconv.STAGE: "vector"})) is None
    assert read(retriever(1, "a", given={semconv.HANDOFF_NAME: "qa"})) is None


@pytest.mark.parametrize("kind", ["CHAIN", "LLM", "EMBEDDING", "", 7, None])
def test_other_kinds_are_no_stages(kind: object) -> None:
    """A chain, a model or an embedding says nothing of documents, and a prompt is no list of them."""
    assert (
        read(span(1, attributes={"openinference.span.kind": kind, "llm.input_messages.0.message.content": "x"})) is None
    )
