"""Agents whose tools retrieve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool, Tool

import rop_otel as rop

TOOL: Any = {"name": "notes", "description": "finds notes"}
ASKED = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
QUESTION = "a task after a timeout"
LOST = "Agent: FAIL, the selected object was lost at packing: packing left it out"


@component
class Scripted:
    """A model that calls tools with the questions of its script, and then answers, or raises."""

    def __init__(self, *steps: list[str], broken: bool = False) -> None:
        self._steps = iter(steps)
        self._broken = broken

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        """Call tools, or answer."""
        asked = next(self._steps, [])
        if self._broken and not asked:
            raise ConnectionError("no model")
        calls = [ToolCall(tool_name="notes", arguments={"query": query}, id=query) for query in asked]
        return {"replies": [ChatMessage.from_assistant(None if calls else "Cancel it.", tool_calls=calls or None)]}


def agent(*tools: Tool, asks: tuple[list[str], ...] = ([QUESTION],), **more: Any) -> Agent:
    """Return an agent that asks its tools and answers."""
    made = Agent(chat_generator=Scripted(*asks), tools=list(tools), **more)
    made.warm_up()
    return made


def first_only(documents: list[Document]) -> str:
    """Write the first document into a tool's message."""
    return str(documents[0].content)


SHORT: Any = {"source": "documents", "handler": first_only}


def searching(parts: Any) -> Any:
    """Return a pipeline that retrieves and reorders."""
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=3))
    pipeline.add_component("reorder", LostInTheMiddleRanker())
    pipeline.connect("bm25", "reorder")
    return pipeline


def component_tool(parts: Any) -> Tool:
    """Return a retriever as a tool."""
    return ComponentTool(InMemoryBM25Retriever(parts.notes(), top_k=3), outputs_to_string=SHORT, **TOOL)


def pipeline_tool(parts: Any) -> Tool:
    """Return a pipeline as a tool."""
    return PipelineTool(
        searching(parts),
        input_mapping={"query": ["bm25.query"]},
        output_mapping={"reorder.documents": "documents"},
        outputs_to_string=SHORT,
        **TOOL,
    )


def function_tool(parts: Any) -> Tool:
    """Return a function that runs a pipeline as a tool."""
    pipeline = searching(parts)

    def notes(query: str) -> str:
        return first_only(pipeline.run({"bm25": {"query": query}})["reorder"]["documents"])

    return Tool(function=notes, parameters=ASKED, **TOOL)


def by_hand_tool(parts: Any) -> Tool:
    """Return a function that runs components itself as a tool."""
    search, reorder = InMemoryBM25Retriever(parts.notes(), top_k=3), LostInTheMiddleRanker()

    def notes(query: str) -> str:
        return first_only(reorder.run(documents=search.run(query=query)["documents"])["documents"])

    return Tool(function=notes, parameters=ASKED, **TOOL)


def finding_tool(parts: Any) -> Tool:
    """Return a function that finds documents in a way of its own as a tool."""

    def notes(query: str) -> list[Document]:
        return [Document(id="timeouts", content="wait for it"), Document(id="shield", content="shield it")]

    return Tool(function=notes, parameters=ASKED, outputs_to_string={"handler": first_only}, **TOOL)


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("make", "stages"),
    [
        (component_tool, [("lexical", "InMemoryBM25Retriever")]),
        (pipeline_tool, [("lexical", "bm25"), ("reorder", "reorder")]),
        (function_tool, [("lexical", "bm25"), ("reorder", "reorder")]),
        (by_hand_tool, [("lexical", "InMemoryBM25Retriever"), ("reorder", "LostInTheMiddleRanker")]),
        (finding_tool, [("retriever", "notes")]),
    ],
)
async def test_what_a_tools_message_leaves_out_was_not_shown(
    selecting: Any, parts: Any, make: Callable[[Any], Tool], stages: list[tuple[str, str]], awaited: bool
) -> None:
    """An agent's run is a handoff; what its tools retrieve are stages, and what their messages hold was shown."""
    watch = selecting("shield")
    asking, question = agent(make(parts)), [ChatMessage.from_user("how?")]
    await asking.run_async(messages=question) if awaited else asking.run(messages=question)
    assert str(watch.only) == LOST
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [*stages, ("packing", "notes")]
    assert {stage.round for stage in watch.only.stages} == {1}
    assert watch.only.shown.ids == ("timeouts",)


@pytest.mark.parametrize("asks", [([QUESTION], ["a lock"]), ([QUESTION, "a lock"],)])
def test_each_call_of_a_tool_is_a_round(selecting: Any, parts: Any, asks: tuple[list[str], ...]) -> None:
    """Calls one after another, and at once, are rounds; what one's message shows is not what another's shows."""
    watch = selecting("locks")
    agent(component_tool(parts), asks=asks).run(messages=[ChatMessage.from_user("how?")])
    assert (watch.only.verdict, watch.only.findings) == ("PASS", ())
    shown = {stage.round: stage.returned for stage in watch.only.stages if stage.stage == "packing"}
    assert shown == {1: 1, 2: 1}
    assert sorted(watch.only.shown.ids) == ["locks", "timeouts"]


def test_a_message_that_shows_no_text_of_the_documents(selecting: Any, parts: Any) -> None:
    """Where a message holds nothing of them, the model was shown none: an error, and no verdict."""
    watch = selecting("shield")
    made = component_tool(parts)
    made.outputs_to_string = {"source": "documents", "handler": lambda documents: f"{len(documents)} notes"}
    agent(made).run(messages=[ChatMessage.from_user("how?")])
    assert watch.only.verdict == "UNVERIFIABLE"
    assert [finding.code.value for finding in watch.only.findings] == ["context_not_in_prompt"]


def test_an_agent_that_does_not_retrieve_is_no_handoff(selecting: Any, parts: Any) -> None:
    """Nothing is said about an answer for which no tool was called."""
    watch = selecting("shield")
    agent(component_tool(parts), asks=()).run(messages=[ChatMessage.from_user("hello")])
    assert watch.all == []


def test_the_selector_is_asked_once_with_what_the_agent_is_run_with(watch: Any, parts: Any) -> None:
    """The selector sees the agent's inputs, and may itself run a pipeline."""
    asked: list[Any] = []

    def select(inputs: Any) -> str:
        asked.append(inputs["messages"][0].text)
        return str(searching(parts).run({"bm25": {"query": QUESTION}})["reorder"]["documents"][0].id)

    watch.instrument(selected_by=select)
    agent(pipeline_tool(parts), asks=([QUESTION], ["a lock"])).run([ChatMessage.from_user("how?")])
    assert (asked, watch.only.verdict, len(watch.only.stages)) == (["how?"], "PASS", 6)


def test_a_pipeline_that_answers_in_a_tool_shows_its_prompt(selecting: Any, parts: Any) -> None:
    """Where a tool asks a model of its own, that model's prompt is what was shown, not the answer in the message."""
    watch = selecting("shield")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=3))
    pipeline.add_component("prompt", PromptBuilder("{% for each in documents[:1] %}{{ each.content }}{% endfor %}"))
    pipeline.add_component("reply", parts.Reply("cancel"))
    pipeline.connect("bm25.documents", "prompt.documents")
    pipeline.connect("prompt", "reply")
    made = PipelineTool(
        pipeline, input_mapping={"query": ["bm25.query"]}, output_mapping={"reply.replies": "replies"}, **TOOL
    )
    agent(made).run(messages=[ChatMessage.from_user("how?")])
    assert str(watch.only) == LOST
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [("lexical", "bm25"), ("packing", "prompt")]


def test_a_tool_that_runs_two_pipelines(selecting: Any, parts: Any) -> None:
    """What both found is what the message is looked for, each document once."""
    watch = selecting("locks")
    pipeline = searching(parts)

    def notes(query: str) -> str:
        found = [pipeline.run({"bm25": {"query": each}})["reorder"]["documents"][0] for each in (query, "lock")]
        return "\n".join(each.content for each in found)

    agent(Tool(function=notes, parameters=ASKED, **TOOL)).run(messages=[ChatMessage.from_user("how?")])
    assert watch.only.verdict == "PASS"
    assert set(watch.only.shown.ids) == {"timeouts", "locks"}


def test_an_agent_that_is_a_tool_belongs_to_the_one_that_calls_it(selecting: Any, parts: Any) -> None:
    """The topmost agent's run is the handoff, with the rounds of all."""
    watch = selecting("shield")

    def ask(query: str) -> str:
        return str(agent(component_tool(parts)).run(messages=[ChatMessage.from_user(query)])["messages"][-1].text)

    agent(Tool(function=ask, parameters=ASKED, **TOOL), asks=(["how?"], ["how else?"])).run(
        messages=[ChatMessage.from_user("how?")]
    )
    assert str(watch.only) == LOST
    assert [(stage.round, stage.stage) for stage in watch.only.stages] == [
        (2, "lexical"),
        (2, "packing"),
        (4, "lexical"),
        (4, "packing"),
    ]


def test_an_agent_in_a_pipeline_is_no_stage(selecting: Any, parts: Any) -> None:
    """Documents in an agent's state do not make a stage of it: what it retrieves, its tools do."""
    watch = selecting("shield")
    made = component_tool(parts)
    made.outputs_to_state = {"documents": {"source": "documents"}}
    pipeline = parts.Pipeline()
    pipeline.add_component("agent", agent(made, state_schema={"documents": {"type": list[Document]}}))
    pipeline.add_component("cut", parts.Cut(1))
    pipeline.connect("agent.documents", "cut.documents")
    pipeline.run({"agent": {"messages": [ChatMessage.from_user("how?")]}})
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [
        ("lexical", "InMemoryBM25Retriever"),
        ("packing", "notes"),
    ]


def test_an_agent_in_a_pipeline_that_retrieves(selecting: Any, parts: Any) -> None:
    """It belongs to the pipeline's handoff, also what its tools run by hand."""
    watch = selecting("shield")
    pipeline = searching(parts)
    pipeline.add_component("agent", agent(by_hand_tool(parts)))
    messages = [ChatMessage.from_user("how?")]
    pipeline.run({"bm25": {"query": "a lock"}, "agent": {"messages": messages}})
    assert watch.only.handoff_name == "Pipeline"
    assert {(stage.round, stage.name) for stage in watch.only.stages} == {
        (None, "bm25"),
        (None, "reorder"),
        (1, "InMemoryBM25Retriever"),
        (1, "LostInTheMiddleRanker"),
        (1, "notes"),
    }


def test_a_super_component_as_a_tool(selecting: Any, parts: Any) -> None:
    """What a super component wraps are the stages, also where it is a tool."""
    watch = selecting("shield")
    wrapped = SuperComponent(
        searching(parts),
        input_mapping={"query": ["bm25.query"]},
        output_mapping={"reorder.documents": "documents"},
    )
    agent(ComponentTool(wrapped, outputs_to_string=SHORT, **TOOL)).run(messages=[ChatMessage.from_user("how?")])
    assert (str(watch.only), len(watch.only.stages)) == (LOST, 3)


def test_a_handoff_of_the_applications_own_takes_in_an_agent(selecting: Any, parts: Any) -> None:
    """An open handoff has the agent's stages, and the application ends it."""
    watch = selecting("timeouts")
    with rop.handoff("mine", selected="shield") as handoff:
        agent(pipeline_tool(parts)).run(messages=[ChatMessage.from_user("how?")])
        assert handoff.assessment.verdict is None
    assert watch.only is handoff.assessment
    assert str(handoff.assessment).startswith("mine: FAIL, the selected object was lost at packing")


def test_an_agent_that_raises(selecting: Any, parts: Any) -> None:
    """The agent's exception is the application's, and the handoff ends with what was retrieved until then."""
    watch = selecting("shield")
    made = Agent(chat_generator=Scripted([QUESTION], broken=True), tools=[component_tool(parts)])
    made.warm_up()
    with pytest.raises(Exception, match=r"no model|pickle"):  # version 2 cannot copy the tool for its report
        made.run(messages=[ChatMessage.from_user("how?")])
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [("lexical", "InMemoryBM25Retriever")]


def test_a_tool_that_no_agent_calls(selecting: Any, parts: Any) -> None:
    """A tool that the application calls is nothing of its own; a pipeline in it is a handoff like any other."""
    watch = selecting("shield")
    component_tool(parts).invoke(query=QUESTION)
    assert watch.all == []
    pipeline_tool(parts).invoke(query=QUESTION)
    assert watch.only.handoff_name == "Pipeline"
