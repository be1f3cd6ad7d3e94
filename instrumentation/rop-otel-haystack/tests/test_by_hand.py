"""Components that the application runs itself, without a pipeline."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from haystack import Document, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from rop_otel_haystack import HaystackInstrumentor

import rop_otel as rop


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the monitor warns of."""
    return [each.getMessage() for each in caplog.records if each.name == "rop_otel"]


@pytest.fixture
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was warned of until now."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())


def test_in_a_handoff_they_are_stages(selecting: Any, parts: Any, unsaid: None, caplog: Any) -> None:
    """In a handoff of the application's own they are stages, one after another, however they are called."""
    selecting("timeouts")
    search, cut = InMemoryBM25Retriever(parts.notes(), top_k=4), parts.Cut(3)
    prompt = PromptBuilder("{% for each in documents[:1] %}{{ each.content }}{% endfor %}")
    with rop.handoff("mine", selected="shield") as handoff:
        found = search.run(parts.QUERY)["documents"]
        kept = cut.run(documents=found)["documents"]
        prompt.run(documents=kept)
    assert str(handoff.assessment) == "mine: FAIL, the selected object was lost at packing: packing left it out"
    assert [(stage.stage, stage.name) for stage in handoff.assessment.stages] == [
        ("lexical", "InMemoryBM25Retriever"),
        ("Cut", "Cut"),
        ("packing", "PromptBuilder"),
    ]
    assert warnings(caplog) == []


async def test_an_awaited_one_is_a_stage_too(selecting: Any, parts: Any) -> None:
    """So is one that is awaited."""
    selecting("timeouts")
    search = InMemoryBM25Retriever(parts.notes(), top_k=4)
    with rop.handoff("mine", selected="timeouts") as handoff:
        await search.run_async(query=parts.QUERY)
    assert [stage.stage for stage in handoff.assessment.stages] == ["lexical"]
    assert handoff.assessment.verdict == "PASS"


@pytest.mark.parametrize("way", ["by hand", "pipeline"])
def test_what_a_component_runs_itself_is_in_it(selecting: Any, parts: Any, way: str) -> None:
    """What it retrieves inside are stages of their own, and what it drops of that is lost in it."""

    @component
    class Twice:
        def __init__(self) -> None:
            self._inner = InMemoryBM25Retriever(parts.notes(), top_k=2)

        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [*self._inner.run(query)["documents"], *self._inner.run("a lock")["documents"]][:2]}

    selecting("timeouts")
    twice = Twice()
    with rop.handoff("mine", selected="locks") as handoff:
        if way == "by hand":
            twice.run(query=parts.QUERY)
        else:
            pipeline = parts.Pipeline()
            pipeline.add_component("Twice", twice)
            pipeline.run({"Twice": {"query": parts.QUERY}})
    inner = ("lexical", "InMemoryBM25Retriever")
    assert [(stage.stage, stage.name) for stage in handoff.assessment.stages] == [inner, inner, ("retriever", "Twice")]
    assert str(handoff.assessment) == "mine: FAIL, the selected object was lost at retriever: the stage dropped it"


def test_in_no_handoff_the_log_says_so_once(selecting: Any, parts: Any, unsaid: None, caplog: Any) -> None:
    """A retriever outside of any handoff finds without a verdict, and the log says so."""
    watch = selecting("timeouts")
    search, cut = InMemoryBM25Retriever(parts.notes(), top_k=4), parts.Cut(1)
    cut.run(documents=[])
    for _ in range(2):
        cut.run(**search.run(query=parts.QUERY))
    (said,) = warnings(caplog)
    assert "InMemoryBM25Retriever retrieved outside of any handoff" in said
    assert watch.all == []


def test_in_a_pipeline_and_in_bare_threads_the_log_says_nothing(
    selecting: Any, parts: Any, unsaid: None, caplog: Any
) -> None:
    """A thread that knows of no context may be one of a component in a pipeline."""
    watch = selecting("timeouts")
    search = InMemoryBM25Retriever(parts.notes(), top_k=4)
    thread = Thread(target=search.run, kwargs={"query": parts.QUERY})
    thread.start()
    thread.join()
    parts.build().run(parts.question())
    assert (warnings(caplog), watch.only.verdict) == ([], "PASS")


def test_off_again_nothing_is_watched(selecting: Any, parts: Any, unsaid: None, caplog: Any) -> None:
    """What was made meanwhile is as it was."""
    selecting("timeouts")
    search = InMemoryBM25Retriever(parts.notes(), top_k=4)
    HaystackInstrumentor().uninstrument()
    with rop.handoff("mine") as handoff:
        search.run(query=parts.QUERY)
    search.run(query=parts.QUERY)
    assert (handoff.assessment.stages, warnings(caplog)) == ((), [])
    assert not hasattr(InMemoryBM25Retriever.run, "__wrapped__")
