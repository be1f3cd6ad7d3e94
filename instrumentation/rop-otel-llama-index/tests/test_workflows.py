"""Workflows whose steps retrieve, and engines of one's own: what models are asked by hand counts as shown.

Older versions read the annotations of steps as they stand, so that this module must not postpone them.
"""

import asyncio
import logging
import threading
from typing import Any

import pytest
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import CompactAndRefine, get_response_synthesizer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step
from llama_index_parts import BM25Retriever, Found, KeepFirst, Model, Watch, WordRerank, engine

import rop_otel as rop
from rop_otel.tracing.running import runtime


class Retrieved(Event):
    """What was retrieved."""

    nodes: Any


class Reranked(Event):
    """What is left of it."""

    nodes: Any


class Unhurried(Workflow):
    """Takes the time that a busy machine needs, of which LlamaIndex gives it 10 seconds, or 45."""

    def __init__(self) -> None:
        super().__init__(timeout=600)


class Rag(Unhurried):
    """Retrieves, reranks and answers, each in a step."""

    streams = False

    @step
    async def retrieve(self, event: StartEvent) -> Retrieved:
        """Retrieve."""
        return Retrieved(nodes=await BM25Retriever("n1", "n2", "n3").aretrieve(event.get("question")))

    @step
    async def rerank(self, event: Retrieved) -> Reranked:
        """Rerank."""
        return Reranked(nodes=WordRerank(keep=2).postprocess_nodes(event.nodes, query_str="?"))

    @step
    async def answer(self, event: Reranked) -> StopEvent:
        """Answer."""
        synthesizer = CompactAndRefine(llm=Model(), streaming=self.streams)
        return StopEvent(result=await synthesizer.asynthesize("?", nodes=event.nodes))


class Handmade(Rag):
    """The same, with a prompt of its own."""

    count = 1

    @step
    async def answer(self, event: Reranked) -> StopEvent:
        """Answer."""
        texts = [each.get_content() for each in event.nodes[: self.count]]
        return StopEvent(result=str(await Model().acomplete("From these:\n" + "\n\n".join(texts))))


class Broken(Rag):
    """The same, but it does not rerank."""

    @step
    async def rerank(self, event: Retrieved) -> Reranked:
        """Raise."""
        raise ConnectionError("no model")


class Greeting(Unhurried):
    """Retrieves nothing."""

    @step
    async def greet(self, event: StartEvent) -> StopEvent:
        """Greet."""
        return StopEvent(result="hello")


class Own(CustomQueryEngine):
    """An engine that writes its prompt itself."""

    def custom_query(self, query_str: str) -> str:
        """Answer from the first node."""
        nodes = BM25Retriever("n1", "n2").retrieve(query_str)
        return str(Model().complete("From this: " + nodes[0].get_content()))


async def test_the_run_of_a_workflow_is_a_handoff(watch: Watch) -> None:
    """Its steps are watched as one, called as its class; the selector is asked with the first text that it is given."""
    asked: list[object] = []

    def select(question: object) -> str:
        asked.append(question)
        return "n1"

    watch(selected_by=select)
    await Rag().run(count=3, question="which one?")
    assert str(watch.only) == "Rag: FAIL, the selected object was lost at rerank: the reranker put it too low"
    assert (watch.kinds(), asked) == (["lexical", "rerank", "packing"], ["which one?"])


async def test_the_selection_is_among_what_a_workflow_is_given(watch: Watch) -> None:
    """A key of what the run is given may hold what was selected."""
    watch(selected_key="about")
    await Rag().run(question="which one?", about="n3")
    assert watch.only.verdict == "PASS"


async def test_an_answer_that_streams_on_from_a_workflow(watch: Watch) -> None:
    """The handoff ends with the stream, not with the run."""
    watch(selected_by=lambda question: "n3")
    workflow = Rag()
    workflow.streams = True
    response = await workflow.run(question="?")
    assert watch.assessments == []
    assert "".join([token async for token in response.async_response_gen()]).strip() == "See [1]."
    assert (watch.only.verdict, watch.kinds()) == ("PASS", ["lexical", "rerank", "packing"])


async def test_runs_at_the_same_time(watch: Watch) -> None:
    """Runs do not mix, and nothing is current behind them."""
    watch(selected_by=lambda question: question)
    await asyncio.gather(*(Rag().run(question=raw) for raw in ("n1", "n2", "n3") * 3))
    assert sorted(assessment.verdict or "" for assessment in watch.assessments) == ["FAIL"] * 3 + ["PASS"] * 6
    assert {len(record.stages) for record in watch.records} == {4}
    assert not rop.current_handoff().id


async def test_a_prompt_of_a_steps_own_is_what_was_shown(watch: Watch) -> None:
    """Where a step writes the prompt, what it leaves out was not shown."""
    watch(selected_by=lambda question: "n2")
    await Handmade().run(question="?")
    assert (watch.only.dropped_at, watch.only.drop_cause, watch.only.shown.ids) == ("packing", "over_budget", ("n3",))


async def test_a_prompt_that_shows_no_node(watch: Watch) -> None:
    """Where no prompt holds a node's text, that is an error, and never a pass."""
    watch(selected_by=lambda question: "n2")
    workflow = Handmade()
    workflow.count = 0
    await workflow.run(question="?")
    assert (watch.only.verdict, watch.kinds()) == ("UNVERIFIABLE", ["lexical", "rerank", "packing"])
    assert [finding.code for finding in watch.only.findings] == ["context_not_in_prompt"]


def test_a_prompt_of_an_engines_own_is_what_was_shown(watch: Watch) -> None:
    """So it is with an engine that asks a model itself."""
    watch(selected_by=lambda question: "n2")
    Own().query("?")
    assert str(watch.only) == "Own: FAIL, the selected object was lost at packing: packing left it out"
    assert watch.only.shown.ids == ("n1",)


async def test_a_workflow_that_does_not_retrieve_is_no_handoff(watch: Watch) -> None:
    """Nothing is said of it, and its selector is not asked."""
    watch(selected_by=lambda question: "n1")
    assert await Greeting().run(question="?") == "hello"
    assert watch.assessments == []


async def test_a_workflow_that_raises(watch: Watch) -> None:
    """The exception is the application's, and the handoff ends with it."""
    watch(selected_by=lambda question: "n1")
    with pytest.raises(Exception, match="no model"):
        await Broken().run(question="?")
    assert watch.kinds() == ["lexical"]


async def test_a_handoff_of_the_applications_own_takes_in_a_workflow(watch: Watch) -> None:
    """An open handoff has the stages, and the application ends it."""
    watch(selected_by=lambda question: "n3")
    with rop.handoff("mine", selected="n1") as handoff:
        await Rag().run(question="?")
        assert handoff.assessment.verdict is None
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("mine", "rerank")


async def test_a_selector_may_run_a_workflow(watch: Watch) -> None:
    """What a selector retrieves itself is no handoff, and no stage of one."""

    def select(question: object) -> str:
        return str(Found("n3").retrieve("?")[0].node.node_id)

    watch(selected_by=select)
    await Rag().run(question="?")
    assert (watch.only.verdict, watch.kinds()) == ("PASS", ["lexical", "rerank", "packing"])


@pytest.mark.parametrize("part", ["postprocessor", "synthesizer"])
def test_parts_outside_of_any_handoff_are_told_in_the_log(
    watch: Watch, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What works on nodes in no handoff loses without a verdict, and the log says so, once."""
    watch()
    nodes = Found("n1", "n2").retrieve("?")
    for _ in range(2):
        if part == "postprocessor":
            KeepFirst(count=1).postprocess_nodes(nodes)
        else:
            get_response_synthesizer(llm=Model(answer="So it is.")).synthesize("?", nodes)
    (said,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert "outside of any handoff" in said
    assert {"postprocessor": "KeepFirst", "synthesizer": "packing"}[part] in said


def test_parts_in_a_handoff_are_not_told(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    """In an engine, and in a handoff of the application's own, there is nothing to say."""
    watch()
    engine(Found("n1", "n2"), KeepFirst(count=1), llm=Model(answer="So it is.")).query("?")
    with rop.handoff("mine"):
        KeepFirst(count=1).postprocess_nodes(Found("n1", "n2").retrieve("?"))
    assert [each for each in caplog.records if each.levelno == logging.WARNING] == []


def test_a_tool_outside_of_any_call(watch: Watch) -> None:
    """A tool that the application calls by itself is nothing of its own."""
    watch(selected_by=lambda question: "n1")
    tool = FunctionTool.from_defaults(fn=lambda query: str(len(Found("n1").retrieve(query))), name="notes")
    assert str(tool.call("?")) == "1"
    assert watch.only.handoff_name == "Found"


class Overdue(Workflow):
    """Retrieves in a thread, after its time is over."""

    def __init__(self) -> None:
        super().__init__(timeout=0.1)
        self.over = threading.Event()
        self.found: Any = None

    @step
    async def answer(self, event: StartEvent) -> StopEvent:
        """Wait for the end, and retrieve."""
        self.waiting = asyncio.get_running_loop().run_in_executor(None, rop.carry_context(self.retrieve))
        return StopEvent(result=await asyncio.shield(self.waiting))

    def retrieve(self) -> None:
        """Retrieve, when the run is over."""
        self.over.wait(60)
        self.found = BM25Retriever("n1").retrieve("?")


async def test_a_thread_that_retrieves_after_the_end(watch: Watch) -> None:
    """It begins no handoff of the run, which nothing would end."""
    watch()
    workflow = Overdue()
    with pytest.raises(Exception, match="timed out"):
        await workflow.run()
    workflow.over.set()
    await workflow.waiting
    assert len(workflow.found) == 1
    assert (watch.assessments, runtime.current().ledger.open_count()) == ([], 0)
