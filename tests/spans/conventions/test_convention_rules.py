"""What a user says of other people's spans."""

from __future__ import annotations

import pytest

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.errors import ConfigurationError
from rop_otel.spans.conventions import Rules, as_stage, concerns
from tests.spans.conventions.foreign import chain, retriever, stage_of
from tests.spans.trace import span


def rules(**given: object) -> Rules:
    """Return rules from settings."""
    return Rules.of(Config.resolve(environ={}, **given))  # type: ignore[arg-type] # each test gives what fits


def test_a_kind_by_name() -> None:
    """The first pattern that matches a span's whole name, case and all, gives its kind."""
    said = rules(foreign_stages={"BM25*": "lexical", "*Retriever": "vector"})
    assert stage_of(retriever(1, "a", name="BM25Retriever"), said).kind == "lexical"
    assert stage_of(retriever(1, "a", name="FaissRetriever"), said).kind == "vector"
    assert stage_of(retriever(1, "a", name="faissretriever"), said).kind == "retriever"
    assert stage_of(retriever(1, "a", name="FaissRetriever.invoke"), said).kind == "retriever"


def test_a_span_that_is_a_stage_by_its_name_alone() -> None:
    """A chain, or a span of no convention, with such a name is a stage, with the documents that it carries."""
    said = rules(foreign_stages="pack*=packing")
    given = {"retrieval.documents": '[{"id": "a"}]', "reranker.input_documents": '[{"id": "a"}, {"id": "b"}]'}
    stage = stage_of(span(1, name="pack_context", attributes=given), said)
    assert (stage.kind, stage.input, stage.returned) == ("packing", ("a", "b"), ("a",))
    assert stage_of(chain(1, name="pack"), said).returned is None


def test_labels_from_an_attribute() -> None:
    """An attribute of the stage's span, a list or one as JSON, holds the labels of what it returned."""
    said = rules(foreign_stages={"pack": "packing"}, foreign_labels="app.labels")
    for labels in (["S1", "S2"], '["S1", "S2"]'):
        assert stage_of(retriever(1, "a", "b", name="pack", given={"app.labels": labels}), said).labels == ("S1", "S2")
    assert stage_of(retriever(1, "a", name="pack", given={"app.labels": "S1"}), said).labels is None


def test_ids_are_hashed_with_the_key() -> None:
    """What was returned and handed is hashed; an ID that could not be read stays empty."""
    said = rules(hash_key="secret")
    stage = stage_of(retriever(1, "a", None, "a"), said)
    assert stage.returned is not None
    assert (stage.returned[0] == stage.returned[2] != "a", stage.returned[1]) == (True, "")
    assert "secret" not in repr(said)


def test_the_environment() -> None:
    """Replay reads the variables of these settings, and no other one."""
    environ = {
        semconv.ENV_FOREIGN_STAGES: "a*=vector, b=rerank",
        semconv.ENV_FOREIGN_HANDOFFS: "x,y*",
        semconv.ENV_FOREIGN_SELECTED: "app.page",
        semconv.ENV_ID_KEYS: "key",
        semconv.ENV_METRICS_PORT: "no port",
    }
    said = Rules.of_environment(environ)
    assert (said.kind_of("abc"), said.kind_of("b"), said.kind_of("bc")) == ("vector", "rerank", None)
    assert [said.may_be_handoff(name) for name in ("x", "yes", "no")] == [True, True, False]
    assert (said.selected, said.id_keys) == ("app.page", ("key",))


@pytest.mark.parametrize("value", ["vector", "=vector", "a=", "a=vector,,", {"a": ""}, {1: "vector"}, 7])
def test_kinds_that_cannot_be_used(value: object) -> None:
    """A pattern without a kind is an error that names the setting."""
    with pytest.raises(ConfigurationError, match="foreign_stages"):
        rules(foreign_stages=value)


def test_ordinary_spans_are_told_at_once() -> None:
    """A span without a convention's marker is not looked at, unless something was lost or its name may tell."""
    attributes = {f"http.header.{number}": "value" for number in range(100)}
    assert not concerns(attributes, Rules())
    assert concerns(attributes, Rules(), lost=1)
    assert concerns(attributes, rules(foreign_stages="a=vector"))
    assert as_stage(span(1, attributes=attributes, dropped_attributes=1), Rules()) is None
