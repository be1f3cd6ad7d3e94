"""Documents, components and settings as they should not be."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

import rop_otel as rop


@component
class Given:
    """A retriever that returns what it is told to."""

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Return it, or raise it."""
        if isinstance(self.outputs, Exception):
            raise self.outputs
        return self.outputs  # type: ignore[no-any-return]


def broken_callback(chunk: str) -> None:
    """Show a chunk on a screen that is not there."""
    raise LookupError("no screen")


def asked(parts: Any, outputs: Any) -> Any:
    """Run a pipeline of one retriever and a cut."""
    pipeline = parts.Pipeline()
    pipeline.add_component("given", Given(outputs))
    pipeline.add_component("cut", parts.Cut(5))
    pipeline.connect("given", "cut")
    return pipeline.run({"given": {"query": "?"}})


def test_scores_that_are_no_numbers_are_left_out(selecting: Any, parts: Any) -> None:
    """NaN as a score takes nothing from the IDs."""
    watch = selecting("b")
    documents = [Document(id="a", content="a", score=float("nan")), Document(id="b", content="b", score=0.1)]
    asked(parts, {"documents": documents})
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 2"


def test_metadata_gives_the_ids_that_are_asked_for(selecting: Any, parts: Any) -> None:
    """The first key that a document has is its ID; one without any keeps its own."""
    watch = selecting("7", id_keys=("page", "file"))
    documents = [
        Document(id="a", content="a", meta={"page": None}),
        Document(id="b", content="b", meta={"page": 7}),
        Document(id="c", content="c", meta={"file": "c.md"}),
    ]
    asked(parts, {"documents": documents})
    assert watch.only.shown.ids == ("a", "7", "c.md")


def test_ids_that_are_the_same_as_text_are_one_object(selecting: Any, parts: Any) -> None:
    """7 and "7" are the same ID, which is said and breaks nothing."""
    watch = selecting("7", id_keys=("page",))
    asked(parts, {"documents": [Document(content="a", meta={"page": 7}), Document(content="b", meta={"page": "7"})]})
    assert watch.only.verdict is rop.Verdict.PASS
    assert "duplicate_ids" in {finding.code.value for finding in watch.only.findings}


def test_documents_without_an_id_keep_their_places(selecting: Any, parts: Any) -> None:
    """A document whose ID is None is at its place and matches nothing."""
    watch = selecting("b")
    nameless = Document(id="a", content="a")
    object.__setattr__(nameless, "id", None)  # newer versions warn where a document is changed
    asked(parts, {"documents": [nameless, Document(id="b", content="b")]})
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 2"


def test_a_component_that_raises_raises_unchanged(selecting: Any, parts: Any) -> None:
    """The application sees what it would see without the monitor, and the handoff says what happened."""
    watch = selecting("b")
    with pytest.raises(Exception, match="no index") as caught:
        asked(parts, ValueError("no index"))
    assert type(caught.value).__name__ == "PipelineRuntimeError"
    assert isinstance(caught.value.__cause__, ValueError)
    assert watch.only.verdict is rop.Verdict.UNVERIFIABLE
    assert [finding.code.value for finding in watch.only.findings] == ["stage_failed"]


def test_a_component_that_returns_something_else_is_haystacks_to_refuse(selecting: Any, parts: Any) -> None:
    """Haystack raises where a component returns no mapping, and so it does with the monitor."""
    selecting("b")
    with pytest.raises(Exception, match="dict"):
        asked(parts, ["a"])


def test_an_iterator_is_left_to_the_application(selecting: Any, parts: Any) -> None:
    """Documents that come one by one are not consumed; the stage says that it could not be read."""
    watch = selecting("b")
    pipeline = parts.Pipeline()
    pipeline.add_component("given", Given({"documents": iter([Document(id=name, content=name) for name in "ab"])}))
    outputs = pipeline.run({"given": {"query": "?"}})
    assert [document.id for document in outputs["given"]["documents"]] == ["a", "b"]
    assert watch.only.verdict is rop.Verdict.UNVERIFIABLE


def test_documents_of_which_everything_raises_stop_nothing(selecting: Any, parts: Any) -> None:
    """Objects that cannot be looked at leave the stage unreadable, and the pipeline runs."""

    class Mine:
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("__"):  # Python's own
                return object.__getattribute__(self, name)
            raise RuntimeError(name)

    watch = selecting("b")
    pipeline = parts.Pipeline()
    pipeline.add_component("given", Given({"documents": [Mine(), Mine()]}))
    assert len(pipeline.run({"given": {"query": "?"}})["given"]["documents"]) == 2
    assert watch.only.verdict is rop.Verdict.UNVERIFIABLE


def test_a_streaming_callback_that_raises_is_the_applications(selecting: Any, parts: Any) -> None:
    """What a callback of a component raises passes like anything that the component raises."""

    @component
    class Streaming:
        @component.output_types(replies=list[str])
        def run(self, prompt: str, streaming_callback: Any = None) -> dict[str, Any]:
            streaming_callback("chunk")
            return {"replies": [prompt]}

    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    pipeline.add_component("prompt", PromptBuilder("{{ documents }}", required_variables=["documents"]))
    pipeline.add_component("reply", Streaming())
    pipeline.connect("bm25", "prompt.documents")
    pipeline.connect("prompt", "reply.prompt")
    with pytest.raises(Exception, match="no screen"):
        pipeline.run({"bm25": {"query": parts.QUERY}, "reply": {"streaming_callback": broken_callback}})
    assert watch.only.verdict is rop.Verdict.PASS


def test_a_retriever_that_finds_nothing_has_found_nothing(selecting: Any, parts: Any) -> None:
    """No documents is a list that can be read."""
    watch = selecting("b")
    asked(parts, {"documents": []})
    assert str(watch.only).startswith("Pipeline: FAIL, the selected object was lost: no list holds it")


def test_a_prompt_of_no_documents_shows_nothing(selecting: Any, parts: Any) -> None:
    """A prompt whose documents are an empty list is a stage that returned none."""
    watch = selecting("timeouts")
    parts.build(keep=0).run(parts.question())
    assert watch.only.shown.ids == ()
    assert "packing" in [stage.stage for stage in watch.only.stages]
    assert str(watch.only).startswith("Pipeline: FAIL, the selected object was lost at Cut: the stage dropped it")


def test_a_selector_that_raises_stops_nothing(watch: Any, parts: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The pipeline answers, and the failure is logged, without its message, which may quote the question."""

    def broken(inputs: Any) -> str:
        raise RuntimeError("no linker")

    watch.instrument(selected_by=broken)
    assert parts.build().run(parts.question())["answer"]["answers"]
    assert watch.only.verdict is rop.Verdict.NOT_APPLICABLE
    assert "RuntimeError" in caplog.text
    assert "no linker" not in caplog.text


def test_a_selector_that_finds_nothing_is_an_error_of_the_selector(selecting: Any, parts: Any) -> None:
    """None from the selector says that a selection was due."""
    watch = selecting(None)
    parts.build().run(parts.question())
    assert watch.only.verdict is rop.Verdict.SELECTOR_ERROR


def test_the_selection_may_be_among_the_inputs(watch: Any, parts: Any) -> None:
    """A key of the pipeline's inputs may hold the selection, where the pipeline takes such an input."""
    watch.instrument(selected_key="linked")
    parts.build(metadata={"linked": "locks"}).run(parts.question())
    assert watch.only.verdict is rop.Verdict.FAIL


def test_a_failure_of_ours_stops_nothing(
    selecting: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a pipeline's graph is not what we know, the runs go on unwatched, and that is logged once."""

    def broken(graph: Any, sources: Any) -> Any:
        raise AttributeError("successors")

    monkeypatch.setattr("rop_otel_haystack.plan._loops", broken)
    watch = selecting("timeouts")
    for _ in range(2):
        assert parts.build().run(parts.question())["answer"]["answers"]
    assert watch.all == []
    assert caplog.text.count("could not be watched") == 1


@component
class AnswerBuilder:
    """Is called as Haystack's own, and has none of its attributes."""

    @component.output_types(answers=list[str])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return IDs as answers."""
        return {"answers": [document.id for document in documents]}


def test_an_answer_builder_of_the_application(selecting: Any, parts: Any, caplog: pytest.LogCaptureFixture) -> None:
    """What only has the name of one of Haystack's components is taken for it, as far as it is alike."""
    watch = selecting("b")
    pipeline = parts.Pipeline()
    pipeline.add_component("given", Given({"documents": [Document(id="a"), Document(id="b")]}))
    pipeline.add_component("answers", AnswerBuilder())
    pipeline.connect("given", "answers")
    assert pipeline.run({"given": {"query": "?"}}) == {"answers": {"answers": ["a", "b"]}}
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 2"
    assert not caplog.records


def test_no_handoff_is_left_without_its_run(selecting: Any, parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a run cannot be watched, nothing is said of it."""
    watch = selecting("b")
    monkeypatch.setattr("rop_otel_haystack.runs.WatchedRun._questions", lambda run: 1 / 0)
    asked(parts, {"documents": [Document(id="b")]})
    assert watch.all == []
