"""What the user says about the kinds of components."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from rop_otel_haystack import HaystackInstrumentor

import rop_otel as rop


def kinds(assessment: rop.Assessment) -> list[tuple[str, str | None]]:
    """Return kind and name of the stages, in order, without the reader."""
    return [(stage.stage, stage.name) for stage in assessment.stages if stage.stage != "reader"]


def test_what_parts_documents_is_no_stage_unless_told(watch: Any, parts: Any) -> None:
    """Of several lists none is the one that a component returns; a kind given to it says that it is a stage."""

    @component
    class Half:
        @component.output_types(kept=list[Document], rest=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"kept": documents[:1], "rest": documents[1:]}

    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=6))
    pipeline.add_component("half", Half())
    pipeline.connect("bm25", "half")
    told = []
    for stages in ({}, {"Half": "candidates"}, {"Half": "candidates", "half": "boost"}):
        watch.instrument(selected_by=lambda inputs: "queues", stages=stages)
        pipeline.run({"bm25": {"query": parts.QUERY}})
        told.append(kinds(watch.all[-1])[1:])
        HaystackInstrumentor().uninstrument()
    assert told == [[], [("candidates", "half")], [("boost", "half")]]
    assert str(watch.all[-1]) == "Pipeline: FAIL, the selected object was lost at boost: the cut left it out"


def test_the_environment_tells_kinds(watch: Any, parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is the stage that ``ROP_OTEL_STAGES`` says, one that extends it too, and none where it says no kind."""

    @component
    class Backwards:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[::-1]}

    @component
    class Copied(Backwards):
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[:]}

    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=6))
    pipeline.add_component("first", Backwards())
    pipeline.add_component("second", Copied())
    pipeline.connect("bm25", "first")
    pipeline.connect("first", "second")
    told = []
    for stages in ("", "Backwards=reorder", "Backwards=reorder, Copied=", "Backwards="):
        monkeypatch.setenv("ROP_OTEL_STAGES", stages)
        watch.instrument()
        pipeline.run({"bm25": {"query": parts.QUERY}})
        told.append([kind for kind, _ in kinds(watch.all[-1])[1:]])
        HaystackInstrumentor().uninstrument()
    assert told == [["Backwards", "Copied"], ["reorder", "reorder"], ["reorder"], []]


def test_a_retriever_that_is_told_to_be_no_stage(watch: Any, parts: Any) -> None:
    """A pipeline without another one retrieves nothing, and is no handoff."""
    watch.instrument(stages={"InMemoryBM25Retriever": None})
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=6))
    assert len(pipeline.run({"bm25": {"query": parts.QUERY}})["bm25"]["documents"]) == 6
    assert watch.all == []
