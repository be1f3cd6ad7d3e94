"""Agents whose tools retrieve."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from importlib import import_module
from typing import Any

import pytest
from llama_index.core import agent as agents
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import BaseTool, FunctionTool, QueryEngineTool, RetrieverTool, ToolSelection
from llama_index_parts import BM25Retriever, Found, KeepFirst, Model, Watch, engine

import rop_otel as rop

try:
    workflow: Any = import_module("llama_index.core.agent.workflow")
except ModuleNotFoundError:
    workflow = None
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # workflows look at all that their agents have
needs_workflows = pytest.mark.skipif(workflow is None, reason="agents are workflows in newer versions")


class Caller(FunctionCallingLLM):
    """A model that calls a tool with the questions of its script, and then answers."""

    asks: list[list[str]]
    said: str = "Cancel it."

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex asks of a model."""
        return LLMMetadata(is_function_calling_model=True)

    def _answer(self) -> ChatResponse:
        asked = self.asks.pop(0) if self.asks else []
        content = "" if asked else self.said
        return ChatResponse(
            message=ChatMessage(role="assistant", content=content, additional_kwargs={"asked": asked}), raw={}
        )

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer."""
        return self._answer()

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer."""
        return self._answer()

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer in one piece."""
        return iter([self._answer()])

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer in one piece."""

        async def pieces() -> AsyncIterator[ChatResponse]:
            yield self._answer()

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=self.said)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=self.said)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Answer in one piece."""
        return iter([CompletionResponse(text=self.said)])

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Answer in one piece."""
        raise NotImplementedError

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> Any:
        return {"messages": list(chat_history or [])}

    def get_tool_calls_from_response(self, response: ChatResponse, *_: Any, **kwargs: Any) -> list[ToolSelection]:
        """Call the tool, as often as it is asked to."""
        asked = response.message.additional_kwargs.get("asked", [])
        return [ToolSelection(tool_id=each, tool_name="notes", tool_kwargs={"input": each}) for each in asked]


def retriever_tool() -> BaseTool:
    """Return a retriever with a postprocessor as a tool."""
    return RetrieverTool.from_defaults(
        BM25Retriever("n1", "n2", "n3"), [KeepFirst(count=2)], name="notes", description="finds notes"
    )


def engine_tool() -> BaseTool:
    """Return a query engine as a tool."""
    return QueryEngineTool.from_defaults(
        engine(BM25Retriever("n1", "n2", "n3"), KeepFirst(count=2)), name="notes", description="finds notes"
    )


def streaming_tool() -> BaseTool:
    """Return a query engine that streams its answers as a tool."""
    made = engine(BM25Retriever("n1", "n2", "n3"), KeepFirst(count=2), streaming=True)
    return QueryEngineTool.from_defaults(made, name="notes", description="finds notes")


def find(input: str) -> str:  # noqa: A002 - what models call it
    """Find notes."""
    nodes = BM25Retriever("n1", "n2", "n3").retrieve(input)
    return "\n\n".join(each.get_content() for each in nodes[:2])


async def afind(input: str) -> str:  # noqa: A002
    """Find notes."""
    nodes = await BM25Retriever("n1", "n2", "n3").aretrieve(input)
    return "\n\n".join(each.get_content() for each in nodes[:2])


def numbered(input: str) -> str:  # noqa: A002
    """Find notes, and number them: three in the first place, then one."""
    nodes = BM25Retriever(*(("n1", "n2", "n3") if input == "one" else ("n4",))).retrieve(input)
    return "\n\n".join(f"[{place}] {each.get_content()}" for place, each in enumerate(nodes, 1))


def summed_up(input: str) -> str:  # noqa: A002
    """Find notes, and say how many."""
    return f"{len(BM25Retriever('n1', 'n2', 'n3').retrieve(input))} notes"


def said_by_a_model(input: str) -> str:  # noqa: A002
    """Find notes, and ask another model."""
    nodes = BM25Retriever("n1", "n2", "n3").retrieve(input)
    return str(Model().complete("From these: " + " ".join(each.get_content() for each in nodes[:2])))


def function_tool(function: Callable[..., Any]) -> BaseTool:
    """Return a function as a tool."""
    if function is afind:
        return FunctionTool.from_defaults(async_fn=function, name="notes")
    return FunctionTool.from_defaults(function, name="notes")


def agent(tool: BaseTool, *asks: list[str]) -> Any:
    """Return an agent that puts these questions to its tool, and then answers."""
    return workflow.FunctionAgent(tools=[tool], llm=Caller(asks=list(asks)))


@needs_workflows
@pytest.mark.parametrize(
    ("tool", "kinds", "dropped"),
    [
        (retriever_tool, ["lexical", "KeepFirst", "packing"], "KeepFirst"),
        (engine_tool, ["lexical", "KeepFirst", "packing"], "KeepFirst"),
        (streaming_tool, ["lexical", "KeepFirst", "packing"], "KeepFirst"),
        (lambda: function_tool(find), ["lexical", "packing"], "packing"),
        (lambda: function_tool(afind), ["lexical", "packing"], "packing"),
        (lambda: function_tool(said_by_a_model), ["lexical", "packing"], "packing"),
    ],
)
async def test_what_a_tool_leaves_out_was_not_shown(
    watch: Watch, tool: Callable[[], BaseTool], kinds: list[str], dropped: str
) -> None:
    """An agent's run is a handoff, and what its tools' messages hold, or their own models are asked, was shown."""
    watch(selected_by=lambda question: "n3")
    await agent(tool(), ["one"], ["two"]).run(user_msg="how?")
    assert (watch.only.handoff_name, watch.only.verdict, watch.only.dropped_at) == ("FunctionAgent", "FAIL", dropped)
    assert [(stage.round, stage.kind) for stage in watch.stages] == [(each, kind) for each in (1, 2) for kind in kinds]
    assert watch.only.shown.ids == ("n1", "n2", "n1", "n2")
    assert {finding.code.value for finding in watch.only.findings} == set()


@needs_workflows
@pytest.mark.parametrize(("said", "wrong"), [("So [1].", []), ("So [3].", []), ("So [7].", ["7"]), ("So it is.", [])])
@pytest.mark.parametrize("asks", [[["one"]], [["one"], ["two"]]])
async def test_an_agent_cites_what_its_tools_showed(
    watch: Watch, said: str, wrong: list[str], asks: list[list[str]]
) -> None:
    """A label that no call of a tool showed is unresolved; which of several calls one means, nobody can say."""
    watch(selected_by=lambda question: "n1")
    await workflow.FunctionAgent(tools=[function_tool(numbered)], llm=Caller(asks=asks, said=said)).run(user_msg="how?")
    assert watch.only.verdict == "PASS"
    assert [(each.code, list(each.labels)) for each in watch.only.findings] == [
        ("citation_unresolved", [label]) for label in wrong
    ]


@needs_workflows
async def test_calls_at_the_same_time_are_rounds(watch: Watch) -> None:
    """Several calls of one step do not mix, and the selector is asked once, with the user's message."""
    asked: list[object] = []

    def select(question: object) -> str:
        asked.append(question)
        return "n2"

    watch(selected_by=select)
    await agent(function_tool(find), ["one", "two", "three"]).run(user_msg=ChatMessage(role="user", content="how?"))
    assert (asked, watch.only.verdict) == (["how?"], "PASS")
    assert sorted((stage.round or 0, stage.kind) for stage in watch.stages) == [
        (number, kind) for number in (1, 2, 3) for kind in ("lexical", "packing")
    ]


@needs_workflows
async def test_a_message_that_shows_no_text_of_the_nodes(watch: Watch) -> None:
    """Where a message holds nothing of them, the agent was shown none, which is an error and never a pass."""
    watch(selected_by=lambda question: "n3")
    await agent(function_tool(summed_up), ["one"]).run(user_msg="how?")
    assert (watch.only.verdict, watch.kinds()) == ("UNVERIFIABLE", ["lexical", "packing"])
    assert [finding.code for finding in watch.only.findings] == ["context_not_in_prompt"]


@needs_workflows
async def test_a_message_in_other_words(watch: Watch) -> None:
    """Where the application says that it shows nodes in another form, all that is packed counts, as assumed."""
    watch(selected_by=lambda question: "n3", shows="rewritten")
    await agent(function_tool(summed_up), ["one"]).run(user_msg="how?")
    assert (watch.only.verdict, watch.only.shown.basis) == ("PASS", "assumed")


@needs_workflows
async def test_an_agent_that_calls_no_tool_is_no_handoff(watch: Watch) -> None:
    """Nothing is said about an answer for which nothing was retrieved."""
    watch(selected_by=lambda question: "n3")
    assert "Cancel" in str(await agent(retriever_tool()).run(user_msg="hello"))
    assert watch.assessments == []


@needs_workflows
async def test_a_tool_that_does_not_retrieve_is_no_handoff(watch: Watch) -> None:
    """A call of a tool is none either, as long as nothing is retrieved."""
    watch(selected_by=lambda question: "n3")
    await agent(FunctionTool.from_defaults(lambda **asked: "hello", name="notes"), ["one"]).run(user_msg="how?")
    assert watch.assessments == []


@needs_workflows
@pytest.mark.parametrize(("asks", "shown"), [(True, ("n1", "n1")), (False, ())])
async def test_an_engine_of_ones_own_in_a_tool(watch: Watch, asks: bool, shown: tuple[str, ...]) -> None:
    """What it asks a model was shown; where it asks none, what its message holds."""

    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            nodes = BM25Retriever("n1", "n2").retrieve(query_str)
            return str(Model().complete("From this: " + nodes[0].get_content())) if asks else f"{len(nodes)} notes"

    watch()
    tool = QueryEngineTool.from_defaults(Own(), name="notes", description="finds notes")
    await agent(tool, ["one"], ["two"]).run(user_msg="how?")
    assert (watch.only.shown.ids, watch.kinds()) == (shown, ["lexical", "packing"] * 2)


@needs_workflows
async def test_a_retriever_that_asks_others_in_a_tool(watch: Watch) -> None:
    """What a retriever leaves out of what others found, the tool was not handed."""

    class Best(Found):
        def __init__(self) -> None:
            super().__init__("n1")
            self.arm = BM25Retriever("n1", "n2")

        def _retrieve(self, query_bundle: Any) -> Any:
            return self.arm.retrieve(query_bundle)[:1]

    watch(selected_by=lambda question: "n2")
    await agent(RetrieverTool.from_defaults(Best(), name="notes"), ["one"]).run(user_msg="how?")
    assert (watch.only.dropped_at, watch.stages[-1].kind, watch.stages[-1].input) == ("retriever", "packing", ("n1",))


@needs_workflows
async def test_several_agents_in_a_workflow(watch: Watch) -> None:
    """A workflow of agents is one handoff, and so is an agent that is another one's tool."""
    watch(selected_by=lambda question: "n3")

    async def ask(input: str) -> str:  # noqa: A002
        """Ask another agent."""
        return str(await agent(retriever_tool(), ["one"]).run(user_msg=input))

    both = workflow.AgentWorkflow(agents=[agent(FunctionTool.from_defaults(async_fn=ask, name="notes"), ["one"])])
    await both.run(user_msg="how?")
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("AgentWorkflow", "KeepFirst")
    assert {stage.round for stage in watch.stages} == {2}


@needs_workflows
async def test_an_agent_that_thinks_aloud(watch: Watch) -> None:
    """Agents that write their calls into their answers are watched alike."""
    watch(selected_by=lambda question: "n3")
    call = 'Thought: I look.\nAction: notes\nAction Input: {"input": "one"}'
    answers = [call, "Thought: I can answer.\nAnswer: Cancel it."]

    class Thinking(Caller):
        def _answer(self) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role="assistant", content=answers.pop(0)), raw={})

    handler = workflow.ReActAgent(tools=[function_tool(find)], llm=Thinking(asks=[])).run(user_msg="how?")
    async for _ in handler.stream_events():
        pass
    assert "Cancel" in str(await handler)
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("ReActAgent", "packing")


@needs_workflows
async def test_a_handoff_of_the_applications_own_takes_in_an_agent(watch: Watch) -> None:
    """An open handoff has the rounds, and the application ends it and tells the answer."""
    watch(selected_by=lambda question: "n1")
    with rop.handoff("mine", selected="n3") as handoff:
        await agent(function_tool(find), ["one"]).run(user_msg="how?")
        assert handoff.assessment.verdict is None
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("mine", "packing")


@needs_workflows
async def test_a_tool_that_raises(watch: Watch) -> None:
    """The agent is told, and the handoff goes on with the next call."""
    watch(selected_by=lambda question: "n1")

    def broken(input: str) -> str:  # noqa: A002
        """Find notes, or not."""
        if input == "one":
            raise ConnectionError("no index")
        return find(input)

    await agent(function_tool(broken), ["one"], ["two"]).run(user_msg="how?")
    assert (watch.only.verdict, {stage.round for stage in watch.stages}) == ("PASS", {2})


@pytest.mark.skipif(not hasattr(agents, "FunctionCallingAgent"), reason="only before version 0.13")
def test_an_agent_that_is_a_chat(watch: Watch) -> None:
    """In older versions agents are chats: their turns are handoffs with the same rounds."""
    watch(selected_by=lambda question: "n3")
    chat = agents.FunctionCallingAgent.from_tools(  # type: ignore[attr-defined]
        [function_tool(find)], llm=Caller(asks=[["one"], ["two"]])
    )
    chat.chat("how?")
    assert (watch.only.handoff_name, watch.only.dropped_at) == ("FunctionCallingAgent", "packing")
    assert [(stage.round, stage.kind) for stage in watch.stages] == [
        (number, kind) for number in (1, 2) for kind in ("lexical", "packing")
    ]
