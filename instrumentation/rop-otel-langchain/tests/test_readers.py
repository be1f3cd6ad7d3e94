"""Which of several models is the reader: graders, checkers and helpers are asked beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from pydantic import BaseModel

import rop_otel as rop
from rop_otel.testing import capture

MODEL = FakeListChatModel(responses=["So it is, says the text."])
YES = FakeListChatModel(responses=["yes"])
READING = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")

Node = Callable[[list[Document]], dict[str, Any]]


class State(TypedDict):
    """What the nodes of a graph hand on."""

    input: str
    documents: list[Document]
    answer: str
    more: str


def graph(parts: Any, *nodes: Node, retriever: Any = None) -> Any:
    """Return a graph that retrieves, and has each node do something with the documents."""
    graphs = pytest.importorskip("langgraph.graph")
    found = retriever or parts.vector()
    builder = graphs.StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": found.invoke(state["input"])})
    builder.add_edge("__start__", "retrieve")
    last = "retrieve"
    for place, node in enumerate(nodes):
        builder.add_node(f"node{place}", lambda state, node=node: node(state["documents"]))
        builder.add_edge(last, f"node{place}")
        last = f"node{place}"
    return builder.compile()


def joined(documents: list[Document]) -> str:
    """Format documents."""
    return "\n".join(each.page_content for each in documents)


def read(documents: list[Document]) -> dict[str, Any]:
    """Answer from all documents."""
    return {"answer": MODEL.invoke(f"{joined(documents)}\nWhat is it?").content}


def read_some(documents: list[Document]) -> dict[str, Any]:
    """Answer from all documents but the first."""
    return read(documents[1:])


def read_none(documents: list[Document]) -> dict[str, Any]:
    """Answer without any document."""
    return read([])


def grade(documents: list[Document]) -> dict[str, Any]:
    """Ask for each document whether it is relevant, to decide where to go."""
    for each in documents:
        YES.invoke(f"Is this relevant, yes or no? {each.page_content}")
    return {"more": "generate"}


def choose(documents: list[Document]) -> dict[str, Any]:
    """Ask the same of the model that answers, and keep all."""
    for each in documents:
        MODEL.invoke(f"Is this relevant? {each.page_content}")
    return {"documents": documents}


def read_and_check(documents: list[Document]) -> dict[str, Any]:
    """Answer from some documents, and ask whether the answer follows from all of them."""
    answer = read_some(documents)
    YES.invoke(f"Does {answer['answer']} follow from this? {joined(documents)}")
    YES.invoke(f"Is {answer['answer']} an answer?")
    return answer


def read_and_go_on(documents: list[Document]) -> dict[str, Any]:
    """Answer, and have another question proposed."""
    model = FakeListChatModel(responses=["Is there another one?"])
    return {**read(documents), "more": model.invoke("Propose another question for: What is it?").content}


def summarise(documents: list[Document]) -> dict[str, Any]:
    """Answer from what a model says of each document."""
    model = FakeListChatModel(responses=[f"The {place}. note says little." for place, _ in enumerate(documents)])
    said = [model.invoke(f"Summarise: {each.page_content}").content for each in documents]
    return {"answer": MODEL.invoke(f"Combine: {said}").content}


def extract(documents: list[Document]) -> dict[str, Any]:
    """Answer from what a model says of each document, which is short and always the same."""
    said = [YES.invoke(f"Does this help? {each.page_content}").content for each in documents]
    return {"answer": MODEL.invoke(f"What follows from {said}?").content}


def summarise_and_lose(documents: list[Document]) -> dict[str, Any]:
    """Lose what a model says of each document."""
    summarise(documents)
    return read_none(documents)


class Shape(BaseModel):
    """A structured answer."""

    answer: str


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told to."""

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        """Do nothing with them."""
        return self


def structured(documents: list[Document]) -> dict[str, Any]:
    """Answer in a structure, for which a model calls a tool."""
    said = AIMessage("", tool_calls=[{"name": "Shape", "args": {"answer": "It is all so."}, "id": "1"}])
    model = Calling(messages=iter([said])).with_structured_output(Shape)
    return {"answer": model.invoke(f"{joined(documents)}\nWhat is it?").answer}  # type: ignore[union-attr]


@pytest.mark.parametrize("way", ["invoke", "astream", "values"])
@pytest.mark.parametrize(
    ("nodes", "selected", "verdict"),
    [
        ([read], "n1", "PASS"),
        ([read_some], "n1", "FAIL"),
        ([read_none], "n1", "UNVERIFIABLE"),
        ([grade, read], "n1", "PASS"),
        ([grade, read_some], "n1", "FAIL"),
        ([grade, read_none], "n1", "UNVERIFIABLE"),
        ([choose, read_some], "n1", "FAIL"),
        ([choose, read_none], "n1", "UNVERIFIABLE"),
        ([read_and_check], "n1", "FAIL"),
        ([read_and_check], "n2", "PASS"),
        ([read_and_go_on], "n1", "PASS"),
        ([summarise], "n3", "PASS"),
        ([extract], "n3", "PASS"),
        ([summarise_and_lose], "n1", "UNVERIFIABLE"),
        ([structured], "n1", "PASS"),
    ],
)
def test_the_reader_is_who_says_what_is_returned(
    parts: Any, seen: Any, nodes: list[Node], selected: str, verdict: str, way: str
) -> None:
    """What counts is the prompt that the answer came from; that of a grader or checker does not."""
    app, inputs = graph(parts, *nodes), {"input": selected}

    async def pieces() -> None:
        async for _ in app.astream(inputs):
            pass

    if way == "invoke":
        app.invoke(inputs)
    elif way == "values":
        list(app.stream(inputs, stream_mode="values"))
    else:
        asyncio.run(pieces())
    assert (seen.assessment.verdict, seen.assessment.dropped_at) == (verdict, "packing" if verdict == "FAIL" else None)
    findings = [each.code.value for each in seen.assessment.findings]
    assert findings == (["context_not_in_prompt"] if verdict == "UNVERIFIABLE" else [])


@pytest.mark.parametrize("own", [False, True])
def test_what_is_retrieved_after_the_answer(parts: Any, seen: Any, own: bool) -> None:
    """It is not for the reader: sources may be looked up for what the answer says."""
    found, sources = parts.vector(), parts.BM25Retriever(results=parts.notes[3:])

    def answer(question: str) -> str:
        said = str(MODEL.invoke(joined(found.invoke(question))).content)
        return f"{said} {len(sources.invoke(said))}"

    if own:
        with rop.handoff("mine", selected="n1"):
            answer("?")
    else:
        RunnableLambda(answer).invoke("n1")
    assert (seen.assessment.verdict, seen.assessment.findings) == (rop.Verdict.PASS, ())
    assert seen.kinds == ["vector", "packing", "lexical"]


class Broken(FakeListChatModel):
    """A model that fails."""

    def _call(self, *args: Any, **kwargs: Any) -> str:
        raise ConnectionError


def test_a_model_that_fails_has_read_nothing(parts: Any, seen: Any) -> None:
    """What the one is given that is asked instead counts."""
    first, second = (
        (lambda inputs, keep=keep: {**inputs, "context": joined(inputs["context"][:keep])}) | READING | model
        for keep, model in ((3, Broken(responses=["?"])), (1, MODEL))
    )
    retrieved = {"context": parts.vector(), "input": lambda question: question}
    (retrieved | first.with_fallbacks([second])).invoke("n2")
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_a_retriever_that_is_asked_instead(parts: Any, seen: Any, way: str) -> None:
    """It is told to be a fallback."""
    chain = parts.lcel(parts.Given(results=ConnectionError()).with_fallbacks([parts.vector()]))
    if way == "ainvoke":
        asyncio.run(chain.ainvoke("n1"))
    else:
        list(getattr(chain, way)(["n1"] if way == "batch" else "n1"))
    findings = {each.code.value: each.stage for each in seen.assessment.findings}
    assert findings == {"stage_failed": "retriever", "fallback_used": "vector"}
    assert seen.assessment.verdict is rop.Verdict.PASS


def searching(query: str, number: str, text: str = "") -> AIMessage:
    """Return a message that calls a tool."""
    return AIMessage(text, tool_calls=[{"name": "search", "args": {"query": query}, "id": number}])


def agent(tools: list[Any], *messages: AIMessage, **options: Any) -> Any:
    """Return an agent whose model says this."""
    agents = pytest.importorskip("langchain.agents")
    if not hasattr(agents, "create_agent"):
        pytest.skip("agents are made so since version 1")
    return agents.create_agent(Calling(messages=iter(messages)), tools, **options)


@pytest.mark.parametrize("lost", [False, True])
def test_an_agent_whose_tool_loses_what_it_finds(parts: Any, instrument: Any, lost: bool) -> None:
    """It is an error where no document is in the messages that the agent answers from."""
    retriever = parts.vector()

    @tool
    def search(query: str) -> str:
        """Search the notes."""
        found = retriever.invoke(query)
        return f"{len(found)} notes" if lost else joined(found)

    instrument(selected_by=lambda _: "n1")
    with capture() as captured:
        answering = agent([search], searching("?", "1", "I will look for it."), AIMessage("It is a note."))
        answering.invoke({"messages": [("user", "?")]})
    told = captured.assessments[0]
    assert told.verdict == ("UNVERIFIABLE" if lost else "PASS")
    assert [each.code.value for each in told.findings] == (["context_not_in_prompt"] if lost else [])


@pytest.mark.parametrize("way", ["invoke", "updates", "values"])
def test_an_agent_that_cites(parts: Any, instrument: Any, way: str) -> None:
    """The citations of its answer are checked, though it attaches no sources."""
    retriever = parts.vector()

    @tool
    def search(query: str) -> str:
        """Search the notes."""
        return "\n".join(f"[{place}] {each.page_content}" for place, each in enumerate(retriever.invoke(query), 1))

    instrument()
    with capture() as captured:
        answering, asked = agent([search], searching("?", "1"), AIMessage("So [1] [9].")), {"messages": [("user", "?")]}
        if way == "invoke":
            answering.invoke(asked)
        else:
            list(answering.stream(asked, stream_mode=way))
    told = captured.assessments[0]
    assert told.citations.unresolved == 1
    assert [(each.code.value, each.labels) for each in told.findings] == [("citation_unresolved", ("9",))]


@pytest.mark.parametrize("kept", [False, True])
def test_what_a_checkpointer_gives_back(parts: Any, instrument: Any, kept: bool) -> None:
    """Documents of earlier turns are known by what a tool left in its message, stored or not."""
    memory = pytest.importorskip("langgraph.checkpoint.memory")
    found = iter([parts.notes[:2], parts.notes[1:3]])

    class Next(parts.Given):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return next(found)

    search = create_retriever_tool(Next(results=None), "search", "Search.", response_format="content_and_artifact")
    said = [searching("?", "1"), AIMessage("One."), searching("?", "2"), AIMessage("Two.")]
    answering = agent([search], *said, checkpointer=memory.InMemorySaver() if kept else None)
    thread = {"configurable": {"thread_id": "1"}}
    instrument(selected_by=lambda _: "n1")
    with capture() as captured:
        before = answering.invoke({"messages": [("user", "one")]}, thread)["messages"]
        answering.invoke({"messages": [*([] if kept else before), ("user", "two")]}, thread)
    told = [(each.verdict, each.shown.ids) for each in captured.assessments]
    assert told == [(rop.Verdict.PASS, ("n1", "n2")), (rop.Verdict.PASS, ("n1", "n2", "n3"))]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (lambda parts, found: MODEL.invoke(joined(found)), "PASS"),
        (lambda parts, found: (READING | MODEL).invoke({"context": joined(found), "input": "?"}), "PASS"),
        (lambda parts, found: (READING | MODEL).invoke({"context": joined(found[1:]), "input": "?"}), "FAIL"),
        (lambda parts, found: (READING | MODEL).invoke({"context": "", "input": "?"}), "UNVERIFIABLE"),
        (lambda parts, found: MODEL.invoke("What is it?"), "UNVERIFIABLE"),
        (lambda parts, found: [MODEL.invoke(joined(found)), YES.invoke("Is it: So it is, says the text.")], "PASS"),
    ],
)
@pytest.mark.parametrize("chained", [False, True])
def test_in_a_handoff_of_the_applications_own(parts: Any, seen: Any, answer: Any, verdict: str, chained: bool) -> None:
    """What one chain finds may be shown by another one: what models were given is told at the end of the handoff."""
    retriever = parts.vector() | (lambda documents: documents[:2]) if chained else parts.vector()
    with rop.handoff("mine", selected="n1"):
        answer(parts, retriever.invoke("?"))
    assert seen.assessment.verdict == verdict


def test_two_chains_in_a_handoff_of_the_applications_own(parts: Any, seen: Any) -> None:
    """Each answers from its own documents, and all of these were shown."""
    for selected in ("n1", "n3"):
        with rop.handoff("mine", selected=selected):
            for found in (parts.notes[:2], parts.notes[1:3]):
                parts.qa(parts.Given(results=found)).invoke({"input": "?"})
        assert (seen.assessments[-1].verdict, seen.assessments[-1].findings) == (rop.Verdict.PASS, ())
