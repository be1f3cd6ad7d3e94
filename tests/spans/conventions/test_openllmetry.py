"""OpenLLMetry's spans read as stages."""

from __future__ import annotations

import pytest

from rop_otel import semconv
from rop_otel.spans import Event
from rop_otel.spans.conventions import Rules
from tests.spans.conventions.foreign import read, stage_of
from tests.spans.trace import span


def result(place: int, *, name: str = "db.query.result", **fields: object) -> Event:
    """Return the event of one result."""
    return Event(name=name, attributes={f"{name}.id": f"d{place}"} | {f"{name}.{key}": fields[key] for key in fields})


RESULTS = tuple(result(place, score=0.9 - place, metadata=f'{{"key": "k{place}"}}') for place in range(3))


@pytest.mark.parametrize(
    "given",
    [
        {"db.system": "chroma", "db.operation": "query"},
        {"db.system": "Pinecone"},
        {semconv.GEN_AI_OPERATION: "vector_db_retrieve"},
    ],
)
def test_results_are_events(given: dict[str, object]) -> None:
    """A search of a vector database returns the documents of its events, in their order."""
    before = Event(name="db.query.embeddings", attributes={"db.query.embeddings.vector": "[0.1]"})
    searched = span(1, name="chroma.query", attributes=given, events=(before, *RESULTS))
    stage = stage_of(searched)
    assert (stage.kind, stage.name, stage.foreign) == ("vector", "chroma.query", True)
    assert (stage.returned, stage.scores) == (("d0", "d1", "d2"), (0.9, 0.9 - 1, 0.9 - 2))
    assert stage_of(searched, Rules(id_keys=("key",))).returned == ("k0", "k1", "k2")


def test_distances_are_no_scores() -> None:
    """A distance is the better the smaller it is, so it is not taken for a score."""
    events = tuple(result(place, name="db.search.result", distance=str(place)) for place in range(2))
    stage = stage_of(span(1, attributes={"db.system": "milvus"}, events=events))
    assert (stage.returned, stage.scores) == (("d0", "d1"), None)


def test_events_lost_to_a_limit() -> None:
    """The first events are the first to go, so that nothing is known of the best ranks."""
    stage = stage_of(span(1, attributes={"db.system": "chroma"}, events=RESULTS, dropped_events=5))
    assert (stage.returned, stage.returned_count) == ((), 8)


@pytest.mark.parametrize("given", [{"llm.request.type": "rerank"}, {semconv.GEN_AI_OPERATION: "rerank"}])
def test_a_reranker_has_no_ids(given: dict[str, object]) -> None:
    """A reranker's documents are texts, and its results places among them: no ID is made of either."""
    texts = {"gen_ai.prompt.0.content": "text 0", "gen_ai.completion.0.content": "Doc 0, Score: 0.9"}
    stage = stage_of(span(1, name="cohere.rerank", attributes=given | texts))
    assert (stage.kind, stage.input, stage.returned) == ("rerank", None, None)


def test_an_operation_without_documents() -> None:
    """A search that says so itself, and has no result recorded, is unreadable."""
    assert stage_of(span(1, attributes={semconv.GEN_AI_OPERATION: "vector_db_retrieve"})).returned is None


@pytest.mark.parametrize("system", ["postgresql", "redis", "chroma"])
def test_other_calls_of_a_database_are_no_stages(system: str) -> None:
    """A statement or an insert has no results as events."""
    given = {"db.system": system, "db.operation": "add", "llm.request.type": "chat"}
    assert read(span(1, attributes=given, events=(Event(name="exception"),))) is None
