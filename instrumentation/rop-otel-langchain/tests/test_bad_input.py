"""Documents, retrievers, callbacks and settings as they should not be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import rop_otel as rop
from rop_otel.testing import capture


def test_documents_without_ids(parts: Any, seen: Any) -> None:
    """No ID is made up: what the stage returned is unreadable, and the handoff unverifiable."""
    documents = [Document("One note", metadata={"id": "n1"}), Document("Another note")]
    parts.lcel(parts.Given(results=documents)).invoke("n1")
    assert seen.lists == [("retriever", None), ("packing", None)]
    assert seen.assessment.verdict is rop.Verdict.UNVERIFIABLE
    assert {finding.code.value for finding in seen.assessment.findings} == {"ids_unreadable"}


def test_one_document_without_an_id(parts: Any, seen: Any) -> None:
    """It keeps its place, and matches nothing."""
    parts.lcel(parts.Given(results=[Document("No ID"), *parts.notes[:1]])).invoke("n1")
    assert seen.lists[0] == ("retriever", ["", "n1"])
    assert seen.assessment.selected_rank == 2


def test_ids_in_the_metadata(parts: Any, instrument: Any) -> None:
    """With ``id_keys`` the first of them that a document has is its ID, and else its own; a number is its digits."""
    instrument(id_keys="key,number", selected_by=lambda _: "7")
    documents = [
        Document("One", id="own", metadata={"key": "k"}),
        Document("Two", metadata={"number": 7}),
        Document("Three", metadata={"key": "7"}),
        Document("Four", id="last"),
    ]
    with capture() as captured:
        parts.lcel(parts.Given(results=documents)).invoke("?")
    (record,), (assessment,) = captured.records, captured.assessments
    assert record.stages[0].returned == ("k", "7", "7", "last")
    assert (assessment.verdict, assessment.selected_rank) == (rop.Verdict.PASS, 2)
    assert {finding.code.value for finding in assessment.findings} == {"duplicate_ids"}


@pytest.mark.parametrize(("scores", "read"), [([0.5, 0.25], (0.5, 0.25)), ([0.5, float("nan")], None)])
def test_scores_that_are_no_numbers(parts: Any, seen: Any, scores: list[float], read: Any) -> None:
    """Where one score is NaN the scores of that stage are left out."""
    documents = [
        note.model_copy(update={"metadata": {"score": score}}) for note, score in zip(parts.notes, scores, strict=False)
    ]
    parts.lcel(parts.Given(results=documents)).invoke("n2")
    assert seen.stages[0].scores == read
    assert seen.stages[1].scores is None


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_a_retriever_that_raises(parts: Any, seen: Any, way: str) -> None:
    """Its exception reaches the application, and the stage has failed."""
    chain = parts.lcel(parts.ensemble(parts.vector(), parts.Given(results=LookupError("no index"))))
    call: dict[str, Callable[[], Any]] = {
        "invoke": lambda: chain.invoke("n1"),
        "ainvoke": lambda: asyncio.run(chain.ainvoke("n1")),
        "stream": lambda: [*chain.stream("n1")],
        "batch": lambda: chain.batch(["n1"]),
    }
    with pytest.raises(LookupError, match="no index"):
        call[way]()
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("retriever", None), ("fusion", None)]
    assert [stage.failed for stage in seen.stages] == [False, True, True]
    assert not rop.current_handoff().id


def test_a_retriever_that_is_retried_with_another(parts: Any, seen: Any) -> None:
    """What a fallback finds arrives, after the stage that failed."""
    retriever = parts.Given(results=LookupError()).with_fallbacks([parts.vector()])
    parts.lcel(retriever).invoke("n2")
    assert seen.lists[:2] == [("retriever", None), ("vector", ["n1", "n2", "n3"])]
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_a_retriever_that_returns_a_generator(parts: Any, seen: Any) -> None:
    """It is left to the application, and is unreadable: to read it would be to use it up."""

    def found() -> Iterator[Document]:
        yield from parts.notes[:2]

    chain = parts.lcel(parts.Given(results=found()), lambda documents: parts.joined([*documents]), answer="Yes.")
    assert chain.invoke("n1").content == "Yes."
    assert seen.lists == [("retriever", None)]
    assert seen.assessment.verdict is rop.Verdict.UNVERIFIABLE


@pytest.mark.parametrize("results", [None, 7, "text", {"n1"}, [None], ["n1"]])
def test_a_retriever_that_returns_something_else(parts: Any, seen: Any, results: Any) -> None:
    """Whatever it returns goes on to the application as it is."""
    given: list[object] = []
    (parts.Given(results=results) | RunnableLambda(given.append)).invoke("n1")
    assert given == [results]
    assert len(seen.assessments) == 1


class Raising(BaseCallbackHandler):
    """A callback handler that does nothing but raise."""

    def __init__(self, *, raise_error: bool) -> None:
        self.raise_error = raise_error

    def on_retriever_end(self, *args: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise ArithmeticError("a callback")


@pytest.mark.parametrize("way", ["invoke", "batch"])
def test_callbacks_that_raise(parts: Any, seen: Any, way: str) -> None:
    """A callback that raises is LangChain's affair: it is as without the instrumentation."""
    chain = parts.lcel(parts.vector())
    inputs: Any = ["n2"] if way == "batch" else "n2"
    getattr(chain, way)(inputs, {"callbacks": [Raising(raise_error=False)]})
    assert seen.assessment.verdict is rop.Verdict.PASS
    with pytest.raises(ArithmeticError):
        getattr(chain, way)(inputs, {"callbacks": [Raising(raise_error=True)]})
    assert not rop.current_handoff().id


def test_a_selector_that_raises(parts: Any, instrument: Any) -> None:
    """The application goes on, without a verdict on the selection."""
    instrument(selected_by=lambda inputs: inputs["no such key"])
    with capture(strict=False) as captured:
        assert parts.qa().invoke({"input": "n1"})["answer"] == "So it is."
    assert captured.assessments[0].verdict is rop.Verdict.NOT_APPLICABLE


class Hostile:
    """An object of the application of which everything raises."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__call__"):
            return super().__getattribute__(name)
        raise ArithmeticError(name)

    def __call__(self, value: Any) -> Any:
        """Return what it is given."""
        return value


def test_objects_of_which_everything_raises(parts: Any, seen: Any) -> None:
    """Chains may hold and pass on what cannot be looked at."""
    chain = parts.vector() | RunnableLambda(lambda documents: {"context": documents, "other": Hostile()})
    result = chain.invoke("n2")
    assert set(result) == {"context", "other"}
    assert seen.kinds == ["vector"]


def test_a_failure_of_our_own(parts: Any, seen: Any, monkeypatch: Any, caplog: Any) -> None:
    """Whatever fails in here is logged once, and the application goes on."""
    monkeypatch.setattr("rop_otel_langchain.functions.documents_in", lambda _: 1 / 0)
    monkeypatch.setattr("rop_otel_langchain.components.plan", lambda *_: 1 / 0)
    monkeypatch.setattr("rop_otel_langchain.returned.are_documents", lambda _: 1 / 0)
    with caplog.at_level(logging.WARNING, "rop_otel"):
        assert parts.qa().invoke({"input": "n1"})["answer"] == "So it is."
        assert parts.qa().invoke({"input": "n1"})["answer"] == "So it is."
    assert len([record for record in caplog.records if "LangChain" in record.message]) == 4


@pytest.mark.parametrize(
    "settings", [{"nonsense": 1}, {"cutoff": 0}, {"selected_by": "no colon"}, {"stages": {"A": 7}}]
)
def test_settings_that_cannot_be_used(instrument: Any, settings: dict[str, Any]) -> None:
    """They raise where they are given, and nothing is wrapped."""
    with pytest.raises(rop.RopError):
        instrument(**settings)


def test_a_selector_that_runs_a_chain(parts: Any, instrument: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is asked once for each call, and what it retrieves is neither a handoff nor a document of the chain's."""
    asked: list[object] = []
    linker = parts.lcel(parts.vector())

    def linked(inputs: object) -> str:
        asked.append(inputs)
        linker.invoke(inputs)
        return "n1"

    instrument(selected_by=linked)
    with capture() as captured, caplog.at_level(logging.WARNING, "rop_otel"):
        parts.lcel(parts.Given(results=parts.notes[3:5])).batch(["one", "two"])
    assert asked == ["one", "two"]
    assert {each.drop_cause for each in captured.assessments} == {rop.DropCause.NEVER_RETRIEVED}
    assert not caplog.records
