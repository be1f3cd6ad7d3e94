"""Retrieval spans of the GenAI convention read as stages."""

from __future__ import annotations

import json

import pytest

from rop_otel import semconv
from rop_otel.spans import Event
from rop_otel.spans.conventions import Rules
from tests.spans.conventions.foreign import read, retrieval, stage_of
from tests.spans.trace import span

FOUND = [{"id": "b", "score": 0.5, "metadata": {"key": "k1"}}, {"id": 7, "score": 0.25, "metadata": {"key": "k2"}}]
NAME = semconv.GEN_AI_RETRIEVAL_DOCUMENTS


@pytest.mark.parametrize("value", [FOUND, json.dumps(FOUND), [json.dumps(each) for each in FOUND]])
@pytest.mark.parametrize("in_an_event", [False, True])
def test_documents_in_any_form(value: object, in_an_event: bool) -> None:
    """Structured or as JSON, on the span or in an event of it, the same documents give the same IDs and scores."""
    event = Event(name="retrieval.results", attributes={NAME: value})
    stage = stage_of(retrieval({}, event) if in_an_event else retrieval({NAME: value}))
    assert (stage.kind, stage.name, stage.source) == ("retriever", "retrieval notes", True)
    assert (stage.returned, stage.scores) == (("b", "7"), (0.5, 0.25))


def test_ids_from_metadata() -> None:
    """A configured key of the metadata gives the ID here too."""
    assert stage_of(retrieval({NAME: FOUND}), Rules(id_keys=("key",))).returned == ("k1", "k2")


def test_documents_that_were_not_asked_for() -> None:
    """Documents are opt-in: without them the list is unreadable; an empty one is empty."""
    assert stage_of(retrieval({}, Event(name="other"))).returned is None
    assert stage_of(retrieval({NAME: []})).returned == ()


@pytest.mark.parametrize("operation", ["chat", "embeddings", "execute_tool", "Retrievals"])
def test_other_operations_are_no_stages(operation: str) -> None:
    """A chat says nothing of documents."""
    assert read(span(1, attributes={semconv.GEN_AI_OPERATION: operation, NAME: FOUND})) is None


def test_a_span_of_our_own_is_read_by_our_attributes() -> None:
    """Our own stages carry the convention's operation; what they say themselves counts."""
    assert read(retrieval({semconv.STAGE: "vector"})) is None
