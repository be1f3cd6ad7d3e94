"""Graphs and agents that talk: what earlier turns said is in their prompts, and steps around the model change these."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool

from rop_otel.testing import capture

graphs = pytest.importorskip("langgraph.graph")
agents = pytest.importorskip("langchain.agents")

MODEL = FakeListChatModel(responses=["So it is, says the text."])
NOTES = [
    Document(id="plug", page_content="Unplug the device and wait for a minute before you plug it in."),
    Document(id="hold", page_content="Hold the button at the back for ten seconds to reset it."),
]


class State(TypedDict):
    """A conversation, and what was found for its last question."""

    messages: Annotated[list[Any], operator.add]
    documents: list[Any]


def talking(parts: Any, write: Callable[[str, list[Any]], list[Any]]) -> Any:
    """Return a graph that retrieves for each question, and answers from the conversation and what it found."""
    memory = pytest.importorskip("langgraph.checkpoint.memory")
    found = parts.Given(results=NOTES)

    def retrieve(state: State) -> Any:
        return {"documents": found.invoke(state["messages"][-1].content)}

    def generate(state: State) -> Any:
        return {"messages": [MODEL.invoke(write(parts.joined(state["documents"]), state["messages"]))]}

    builder = graphs.StateGraph(State)
    builder.add_node("retrieve", retrieve)
    builder.add_node("generate", generate)
    builder.add_edge("__start__", "retrieve")
    builder.add_edge("retrieve", "generate")
    return builder.compile(checkpointer=memory.InMemorySaver())


@pytest.mark.parametrize(
    ("write", "verdict"),
    [
        (lambda text, messages: [SystemMessage(text), *messages], "PASS"),
        (lambda text, messages: [SystemMessage(text.split("\n\n")[0]), *messages], "FAIL"),
        (lambda text, messages: messages, "UNVERIFIABLE"),
        (lambda text, messages: messages[-1:], "UNVERIFIABLE"),
    ],
)
def test_earlier_turns_are_no_sign_of_documents(parts: Any, instrument: Any, write: Any, verdict: str) -> None:
    """Neither a question nor an answer that a checkpointer kept, whatever part of a document it repeats."""
    instrument(selected_by=lambda _: "hold")
    app, thread = talking(parts, write), {"configurable": {"thread_id": "1"}}
    with capture() as captured:
        app.invoke({"messages": [HumanMessage("Do I hold the button at the back for ten seconds?")]}, thread)
        app.update_state(thread, {"messages": [AIMessage(NOTES[1].page_content)]})
        app.invoke({"messages": [HumanMessage("And then?")]}, thread)
    assert [each.verdict for each in captured.assessments] == [verdict] * 2


def test_documents_in_a_state_that_was_stored(parts: Any, instrument: Any) -> None:
    """They are known where a function is given them, as mappings too, whatever was retrieved beside."""
    instrument(selected_by=lambda _: "hold")
    retriever = parts.vector()

    def load(question: str) -> dict[str, Any]:
        retriever.invoke(question)
        return {"kept": [each.model_dump() for each in NOTES]}

    def answer(state: dict[str, Any]) -> str:
        return str(MODEL.invoke("\n".join(each["page_content"] for each in state["kept"])).content)

    with capture() as captured:
        (RunnableLambda(load) | answer).invoke("?")
    assert (captured.assessments[0].verdict, captured.assessments[0].shown.ids) == ("PASS", ("plug", "hold"))


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told to."""

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        """Do nothing with them."""
        return self


SEARCHING = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "?"}, "id": "1"}])


def trimming(parts: Any, *, lost: bool) -> Any:
    """Return an agent of which a step before the model may drop what the tool said."""
    middleware = pytest.importorskip("langchain.agents.middleware")
    removing = pytest.importorskip("langgraph.graph.message")
    from langchain_core.messages import RemoveMessage

    @middleware.before_model  # type: ignore[untyped-decorator,unused-ignore]
    def trim(state: Any, runtime: Any) -> Any:
        if not lost or len(state["messages"]) < 3:
            return None
        return {"messages": [RemoveMessage(id=removing.REMOVE_ALL_MESSAGES), state["messages"][0]]}

    search = create_retriever_tool(parts.Given(results=NOTES), "search", "Search.")
    return agents.create_agent(Calling(messages=iter([SEARCHING, AIMessage("Hold it.")])), [search], middleware=[trim])


def prompting(parts: Any, *, lost: bool) -> Any:
    """Return an agent whose system prompt is made of what a retriever finds, or may lose."""
    middleware = pytest.importorskip("langchain.agents.middleware")
    found = parts.Given(results=NOTES)

    @middleware.dynamic_prompt  # type: ignore[untyped-decorator,unused-ignore]
    def prompt(request: Any) -> str:
        documents = found.invoke("?")
        return f"Answer from this: {'' if lost else parts.joined(documents)}"

    return agents.create_agent(Calling(messages=iter([AIMessage("Hold it.")])), [], middleware=[prompt])


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("make", [trimming, prompting])
def test_steps_around_the_model_of_an_agent(parts: Any, instrument: Any, make: Any, lost: bool) -> None:
    """What the model is really given counts."""
    instrument(selected_by=lambda _: "hold")
    with capture() as captured:
        make(parts, lost=lost).invoke({"messages": [("user", "How do I reset it?")]})
    told = captured.assessments[0]
    assert told.verdict == ("UNVERIFIABLE" if lost else "PASS")
    assert [each.code.value for each in told.findings] == (["context_not_in_prompt"] if lost else [])
