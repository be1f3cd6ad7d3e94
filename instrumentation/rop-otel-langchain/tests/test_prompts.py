"""What models and prompts are given, in chains, graphs, agents and the application's own code."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

import rop_otel as rop
from rop_otel.instrumenting import passages_in

MODEL = FakeListChatModel(responses=["So it is."])


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_a_model_says_what_it_is_shown(parts: Any, seen: Any, way: str) -> None:
    """Where one function retrieves, writes the prompt and calls the model, the model's input tells what was packed."""
    retriever = parts.vector()

    async def pieces(messages: Any) -> None:
        async for _ in MODEL.astream(messages):
            pass

    def answer(question: str) -> str:
        first, *_ = retriever.invoke(question)
        messages = [SystemMessage("Answer."), HumanMessage([{"type": "text", "text": f"[S1] {first.page_content}"}])]
        if way in ("invoke", "stream"):
            list(getattr(MODEL, way)(messages))
        else:
            asyncio.run(MODEL.ainvoke(messages) if way == "ainvoke" else pieces(messages))
        return "So it is."

    RunnableLambda(answer).invoke("n2")
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("packing", ["n1"]), ("reader", None)]
    assert seen.stages[1].labels == ("S1",)
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")


def test_the_last_text_that_shows_documents_counts(parts: Any, seen: Any) -> None:
    """Documents that are shown to grade them, before the answer, are not shown to the reader for that."""

    def relevant(documents: list[Document]) -> list[Document]:
        for document in documents:
            MODEL.invoke(f"Is this relevant? {document.page_content}")
        return documents[:1]

    chain = parts.lcel(parts.vector() | relevant) | (lambda message: MODEL.invoke(f"Title of: {message.content}"))
    chain.invoke("n3")
    assert seen.lists[1:] == [("relevant", ["n1"]), ("packing", ["n1"])]
    assert seen.stages[-1].input == ("n1",)


def test_a_grader_that_chooses_nothing(parts: Any, seen: Any) -> None:
    """Where the reader is shown some of what another model was shown before, these are all that it is shown."""

    def answer(documents: list[Document]) -> str:
        MODEL.invoke(f"Are these relevant? {parts.joined(documents)}")
        return str(MODEL.invoke(documents[1].page_content).content)

    (parts.vector() | answer).invoke("n1")
    assert seen.lists[-1] == ("packing", ["n2"])


def test_documents_that_are_all_rejected(parts: Any, seen: Any) -> None:
    """Nor is what was shown to a grader that rejects all of it, where the reader is shown something else."""
    elsewhere = parts.Given(results=parts.notes[4:5])

    def relevant(documents: list[Document]) -> list[Document]:
        for document in documents:
            MODEL.invoke(f"Is this relevant? {document.page_content}")
        return []

    def answer(documents: list[Document]) -> str:
        return str(MODEL.invoke(documents[0].page_content).content)

    (parts.vector() | relevant | (lambda kept: elsewhere.invoke("?")) | answer).invoke("n3")
    assert seen.lists[1:] == [("relevant", []), ("retriever", ["n5"]), ("packing", ["n5"])]
    assert str(seen.assessment).endswith(
        "FAIL, the selected object was lost at relevant: the stage dropped it; findings: nothing_returned at relevant"
    )


def test_documents_that_are_read_one_after_another(parts: Any, seen: Any) -> None:
    """Where a model reads each document by itself, and another one what came of it, the reader was shown all."""
    summary = (lambda document: f"Summarise: {document.page_content}") | MODEL
    chain = parts.vector() | summary.map() | (lambda said: f"Combine: {[each.content for each in said]}") | MODEL
    chain.invoke("n1")
    assert [(kind, sorted(ids)) for kind, ids in seen.lists[1:]] == [("packing", ["n1", "n2", "n3"])]
    assert seen.assessment.verdict is rop.Verdict.PASS


@pytest.mark.filterwarnings("ignore")  # that they are deprecated
def test_an_answer_that_is_refined(parts: Any, seen: Any) -> None:
    """A chain that shows a model one document after another shows it all of them."""
    older = parts.classic("chains.RetrievalQA")
    model = FakeListChatModel(responses=["yes"] * 3)
    older.from_chain_type(model, chain_type="refine", retriever=parts.vector()).invoke({"query": "n1", "input": "n1"})
    assert seen.lists[1] == ("packing", ["n1", "n2", "n3"])
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_questions_that_are_answered_one_by_one(parts: Any, seen: Any) -> None:
    """Two retrievals, each of which a model reads before the next, are both shown."""
    one, two = parts.vector(2), parts.Given(results=parts.notes[3:5])

    def answer(question: str) -> str:
        said = [MODEL.invoke(parts.joined(retriever.invoke(question))).content for retriever in (one, two)]
        return str(MODEL.invoke(f"Put the answers together: {said}").content)

    RunnableLambda(answer).invoke("n1")
    assert seen.lists[-1] == ("packing", ["n1", "n2", "n4", "n5"])
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_documents_of_one_id(parts: Any, seen: Any) -> None:
    """Pieces of one document may have its ID: it was shown if one of them was."""
    pieces = [Document(id="n1", page_content=text) for text in ("The first piece of it.", "The second one of it.")]
    parts.lcel(parts.Given(results=[*pieces, parts.notes[1]]), lambda found: found[0].page_content).invoke("n1")
    assert seen.lists[-1] == ("packing", ["n1"])
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_a_model_that_is_given_no_text(parts: Any, seen: Any, caplog: pytest.LogCaptureFixture) -> None:
    """An empty text shows nothing, which is found, and is no failure."""
    (parts.vector() | (lambda documents: "") | MODEL).invoke("n1")
    assert [finding.code.value for finding in seen.assessment.findings] == ["context_not_in_prompt"]
    assert seen.assessment.verdict is rop.Verdict.UNVERIFIABLE
    assert not caplog.records


def test_read_one_after_another_in_a_handoff_of_the_applications_own(parts: Any, seen: Any) -> None:
    """Each text that shows documents counts there: all are packed at the end."""
    with rop.handoff("mine", selected="n3"):
        for document in parts.vector().invoke("?"):
            MODEL.invoke(f"Summarise: {document.page_content}")
    assert seen.lists[1:] == [("packing", ["n1", "n2", "n3"])]
    assert (seen.assessment.verdict, seen.assessment.selected_rank) == (rop.Verdict.PASS, 3)


def test_a_reader_that_is_a_function(parts: Any, seen: Any) -> None:
    """What a function formats for another one, after a model was shown documents, is what is packed."""

    def graded(documents: list[Document]) -> list[Document]:
        MODEL.invoke(f"Is this relevant? {parts.joined(documents)}")
        return documents[:1]

    (parts.vector() | graded | parts.joined | (lambda text: f"So {text}")).invoke("n2")
    assert seen.lists[1:] == [("graded", ["n1"]), ("packing", ["n1"])]


def test_what_comes_before_the_retrieval_packs_nothing(parts: Any, seen: Any) -> None:
    """A model that rewrites the question is shown no documents."""
    rewritten = parts.prompt.partial(context="-") | MODEL | (lambda message: message.content)
    parts.lcel({"input": lambda question: question} | rewritten | parts.vector()).invoke("n2")
    assert seen.kinds == ["vector", "packing"]


def test_two_lists_in_one_prompt(parts: Any, seen: Any) -> None:
    """What two functions format for one prompt is one packing, in the order of the prompt."""
    both = {
        "context": parts.Given(results=parts.notes[3:5]) | parts.joined,
        "input": parts.BM25Retriever(results=parts.notes[:2]) | parts.joined,
    }
    (both | parts.prompt | MODEL).invoke("n2")
    assert seen.lists[-1] == ("packing", ["n4", "n5", "n1", "n2"])
    assert (seen.assessment.verdict, seen.assessment.selected_rank) == (rop.Verdict.PASS, 4)
    assert not seen.assessment.findings


def test_two_lists_that_only_functions_format(parts: Any, seen: Any) -> None:
    """Without any prompt or model that is known, what functions made of documents counts, all of it."""
    both = {
        "context": parts.Given(results=parts.notes[3:5]) | parts.joined,
        "input": parts.BM25Retriever(results=parts.notes[:2]) | parts.joined,
    }
    (both | RunnableLambda(lambda texts: "an answer")).invoke("n2")
    assert [(kind, sorted(ids)) for kind, ids in seen.lists[2:]] == [("packing", ["n1", "n2", "n4", "n5"])]


def test_in_a_handoff_of_the_applications_own(parts: Any, seen: Any) -> None:
    """Calls of retrievers, rerankers, transformers and models by themselves are stages of the handoff around them."""
    with rop.handoff("mine", selected="n2"):
        documents = parts.vector().invoke("?")
        documents = parts.LongContextReorder().transform_documents(documents)
        documents = parts.Reversing(keep=2).compress_documents(documents, "?")
        MODEL.invoke(parts.joined(documents))
        MODEL.invoke(f"Again: {parts.joined(documents)}")
    assert seen.lists == [
        ("vector", ["n1", "n2", "n3"]),
        ("reorder", ["n2", "n3", "n1"]),
        ("rerank", ["n1", "n3"]),
        ("packing", ["n1", "n3"]),
    ]


@pytest.mark.filterwarnings("ignore")  # that they are deprecated
def test_the_older_chains(parts: Any, seen: Any) -> None:
    """The older chains call models in another way."""
    older = parts.classic("chains.RetrievalQA")
    model = FakeListLLM(responses=["yes"])
    chain = older.from_chain_type(model, retriever=parts.vector(), return_source_documents=True)
    chain.invoke({"query": "n2", "input": "n2"})
    assert seen.kinds == ["vector", "packing", "reader"]
    assert seen.assessment.verdict is rop.Verdict.PASS


class State(TypedDict):
    """What the nodes of a graph hand on."""

    input: str
    documents: list[Document]
    answer: str


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_a_graph_is_a_handoff(parts: Any, seen: Any, way: str) -> None:
    """A graph whose nodes retrieve is a handoff, and a node that drops documents a stage with its function's name."""
    graph = pytest.importorskip("langgraph.graph")
    retriever = parts.compressed()

    def retrieve(state: State) -> dict[str, Any]:
        return {"documents": retriever.invoke(state["input"])}

    def shorten(state: State) -> dict[str, Any]:
        return {"documents": state["documents"][:1]}

    async def ashorten(state: State) -> dict[str, Any]:
        return shorten(state)

    def generate(state: State) -> dict[str, Any]:
        return {"answer": MODEL.invoke(f"{parts.joined(state['documents'])} {state['input']}").content}

    builder = graph.StateGraph(State)
    builder.add_node("retrieve", retrieve)
    builder.add_node("shorten", ashorten if way == "ainvoke" else shorten)
    builder.add_node("generate", generate)
    for one, two in zip(["__start__", "retrieve", "shorten"], ["retrieve", "shorten", "generate"], strict=True):
        builder.add_edge(one, two)
    app, inputs = builder.compile(), {"input": "n2"}
    if way == "ainvoke":
        asyncio.run(app.ainvoke(inputs))
    else:
        list(getattr(app, way)([inputs] if way == "batch" else inputs))
    name = "ashorten" if way == "ainvoke" else "shorten"
    assert seen.lists[3:] == [("rerank", ["n5", "n2", "n4"]), (name, ["n5"]), ("packing", ["n5"])]
    assert str(seen.assessment).endswith(f"FAIL, the selected object was lost at {name}: the stage dropped it")


class Summed(TypedDict):
    """A state whose documents add up."""

    input: str
    documents: Annotated[list[Document], operator.add]


def test_a_graph_that_adds_up_what_nodes_find(parts: Any, seen: Any) -> None:
    """What one node found is not dropped by the next one, which only adds to it, or has nothing to add."""
    graph = pytest.importorskip("langgraph.graph")
    retriever, other = parts.vector(2), parts.BM25Retriever(results=parts.notes[3:4])
    builder = graph.StateGraph(Summed)
    builder.add_node("near", lambda state: {"documents": retriever.invoke("?")})
    builder.add_node("alike", lambda state: {"documents": other.invoke("?")})
    builder.add_node("elsewhere", lambda state: {"documents": []})
    builder.add_node("generate", lambda state: {"input": MODEL.invoke(parts.joined(state["documents"])).content})
    builder.add_edge("__start__", "near")
    for one, two in zip(["near", "alike", "elsewhere"], ["alike", "elsewhere", "generate"], strict=True):
        builder.add_edge(one, two)
    builder.compile().invoke({"input": "n2"})
    assert seen.lists[-1] == ("packing", ["n1", "n2", "n4"])
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_a_node_that_commands(parts: Any, seen: Any) -> None:
    """A node may tell where to go next beside its documents."""
    graph, types = pytest.importorskip("langgraph.graph"), pytest.importorskip("langgraph.types")
    retriever = parts.vector()

    def shorten(state: State) -> Any:
        return types.Command(goto="generate", update={"documents": state["documents"][:1]})

    builder = graph.StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": retriever.invoke("?")})
    builder.add_node("shorten", shorten, destinations=("generate",))
    builder.add_node("generate", lambda state: {"answer": MODEL.invoke(parts.joined(state["documents"])).content})
    builder.add_edge("__start__", "retrieve")
    builder.add_edge("retrieve", "shorten")
    builder.compile().invoke({"input": "n2"})
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("shorten", ["n1"]), ("packing", ["n1"])]


def test_tasks_of_an_entrypoint(parts: Any, seen: Any) -> None:
    """A graph that is written as a function is the handoff, not the task in it that retrieves."""
    func = pytest.importorskip("langgraph.func")
    retriever = parts.vector()
    retrieve = func.task(lambda question: retriever.invoke(question), name="retrieve")

    @func.entrypoint()
    def answer(question: str) -> str:
        return str(MODEL.invoke(parts.joined(retrieve(question).result()[:1])).content)

    answer.invoke("n2")
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("packing", ["n1"])]


class Calling(GenericFakeChatModel):
    """A model that calls tools as it is told to."""

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        """Do nothing with them."""
        return self


@pytest.mark.filterwarnings("ignore")  # that it has moved
def test_an_agent_is_a_handoff(parts: Any, seen: Any) -> None:
    """An agent that searches twice is shown what both searches found, in its last messages."""
    agents = pytest.importorskip("langgraph.prebuilt")
    from langchain_core.tools import create_retriever_tool

    calls = [
        AIMessage("", tool_calls=[{"name": name, "args": {"query": "?"}, "id": name}]) for name in ("notes", "others")
    ]
    tools = [
        create_retriever_tool(parts.vector(2), "notes", "Search notes."),
        create_retriever_tool(parts.BM25Retriever(results=parts.notes[4:]), "others", "Search others."),
    ]
    agent = agents.create_react_agent(Calling(messages=iter([*calls, AIMessage("Done.")])), tools)
    agent.invoke({"input": "n5", "messages": [("user", "?")]})
    assert seen.lists == [("vector", ["n1", "n2"]), ("lexical", ["n5", "n6"]), ("packing", ["n1", "n2", "n5", "n6"])]
    assert not seen.assessment.findings


def test_a_prompt_is_searched_once(parts: Any, seen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function, a template and a model are given is looked through once, and not again when it is recorded."""
    searched: list[str] = []

    def look(prompts: Any, *args: Any, **kwargs: Any) -> Any:
        searched.extend(prompts := list(prompts))
        return passages_in(prompts, *args, **kwargs)

    monkeypatch.setattr("rop_otel.tracing.stages.prompting.passages_in", look)
    monkeypatch.setattr("rop_otel_langchain.trail.passages_in", look)
    keep = RunnableLambda(lambda documents: documents[:1])
    parts.lcel(parts.vector() | keep).invoke("n3")
    assert seen.lists[-1] == ("packing", ["n1"])
    holding = [each for each in searched if parts.notes[0].page_content in each]
    assert len(holding) == len(set(holding)) > 0
