"""Tools that retrieve: each call of one is a round, and what an agent was shown before the last one is not the end."""

from __future__ import annotations

import asyncio
from threading import Barrier
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool

import rop_otel as rop

MODEL = FakeListChatModel(responses=["So it is."])


@tool
def add(one: int, two: int) -> int:
    """Add."""
    return one + two


def searching(parts: Any, *lists: slice) -> list[Any]:
    """Return a tool for each part of the notes, which finds these and has them reranked."""
    found = (parts.compressed(parts.Given(results=parts.notes[each])) for each in lists)
    return [create_retriever_tool(each, f"search{place}", "Search.") for place, each in enumerate(found)]


def an_agent(tools: list[Any], *, remember: bool = True) -> RunnableLambda[Any, Any]:
    """Return a loop that asks a model, calls a tool, and asks again, with all that the tools said or only the last."""

    def ask(question: str) -> str:
        said: list[str] = []
        for each in tools:
            MODEL.invoke("\n".join([question, *said]))
            add.invoke({"one": 1, "two": 2})
            said = [*(said if remember else ()), each.invoke({"query": question})]
        return str(MODEL.invoke("\n".join([question, *said])).content)

    async def aask(question: str) -> str:
        said = await asyncio.gather(*(each.ainvoke({"query": question}) for each in tools))
        return str((await MODEL.ainvoke("\n".join([question, *said]))).content)

    return RunnableLambda(ask, aask)


def test_each_call_of_a_tool_is_a_round(parts: Any, seen: Any) -> None:
    """Its stages feed each other and no other round's; tools that retrieve nothing are none."""
    an_agent(searching(parts, slice(3), slice(3, 6))).invoke("n2")
    assert [(stage.kind, stage.round) for stage in seen.stages] == [
        ("retriever", 1), ("rerank", 1), ("retriever", 2), ("rerank", 2), ("packing", None),
    ]  # fmt: skip
    assert seen.lists[-1] == ("packing", ["n3", "n2", "n1", "n6", "n5", "n4"])
    assert seen.assessment.verdict is rop.Verdict.PASS
    assert not seen.assessment.findings


def test_what_one_search_keeps_and_the_next_one_drops(parts: Any, seen: Any) -> None:
    """It is shown where the first one found it."""
    an_agent(searching(parts, slice(3), slice(2, 6))).invoke("n3")
    assert seen.lists[-2:] == [("rerank", ["n6", "n5", "n4"]), ("packing", ["n3", "n2", "n1", "n6", "n5", "n4"])]
    assert (seen.assessment.verdict, seen.assessment.selected_rank) == (rop.Verdict.PASS, 1)


def test_tools_that_run_at_the_same_time(parts: Any, seen: Any) -> None:
    """Stages of calls at once are kept apart: no list is taken for what feeds another call's stage."""
    asyncio.run(an_agent(searching(parts, slice(3), slice(3, 6))).ainvoke("n2"))
    assert sorted((stage.round or 0, stage.kind) for stage in seen.stages) == [
        (0, "packing"), (1, "rerank"), (1, "retriever"), (2, "rerank"), (2, "retriever"),
    ]  # fmt: skip
    assert not seen.assessment.findings


def test_what_the_last_call_of_the_model_lacks_was_not_shown(parts: Any, seen: Any) -> None:
    """Where a conversation is cut, what an earlier search found is lost for the reader, who may have seen it once."""
    agent = an_agent(searching(parts, slice(3), slice(3, 6)), remember=False)
    agent.invoke("n2")
    assert seen.lists[-1] == ("packing", ["n6", "n5", "n4"])
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")


def test_tools_that_are_agents(parts: Any, seen: Any) -> None:
    """What agents inside of tools were shown counts together, overlapping or not: another one reads their answers."""
    inner = [an_agent(searching(parts, *lists), remember=False) for lists in ([slice(1), slice(3)], [slice(2, 4)])]

    @tool
    def one(query: str) -> str:
        """Ask an agent."""
        return str(inner[0].invoke(query))

    @tool
    def two(query: str) -> str:
        """Ask another one."""
        return str(inner[1].invoke(query))

    an_agent([one, two]).invoke("n1")
    assert {stage.round for stage in seen.stages} == {2, 3, 5, None}
    assert seen.lists[-1] == ("packing", ["n3", "n2", "n1", "n4"])


def test_a_tool_in_a_handoff_of_the_applications_own(parts: Any, seen: Any) -> None:
    """There each text counts, also one that is shown inside of a tool."""

    @tool
    def summarised(query: str) -> str:
        """Search, and have a model summarise what is found."""
        return str(MODEL.invoke(parts.joined(retriever.invoke(query))).content)

    retriever = parts.vector()
    with rop.handoff("mine", selected="n2"):
        for each in [summarised, *searching(parts, slice(3, 6))]:
            MODEL.invoke(each.invoke({"query": "?"}))
    assert [stage.kind for stage in seen.stages if stage.round is None] == ["vector", "packing"]
    assert (seen.assessment.verdict, seen.assessment.selected_rank) == (rop.Verdict.PASS, 2)


def test_retrievers_of_several_stages_at_once(parts: Any, seen: Any) -> None:
    """Each question's stages are a round, so that none is taken to be fed by another question's."""
    met = Barrier(2)

    class Meeting(parts.Given):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            met.wait()
            return parts.notes[:3] if query == "n1" else parts.notes[3:]

    both = (lambda question: [question, "n5"]) | parts.compressed(Meeting(results=None)).map()
    (both | (lambda found: [*found[0], *found[1]]) | parts.joined | MODEL).invoke("n1")
    assert sorted((stage.round or 0, stage.kind) for stage in seen.stages) == [
        (0, "function"), (0, "packing"), (1, "rerank"), (1, "retriever"), (2, "rerank"), (2, "retriever"),
    ]  # fmt: skip
    assert not seen.assessment.findings
    assert seen.assessment.verdict is rop.Verdict.PASS


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_tool_by_itself_is_no_round(parts: Any, seen: Any, way: str) -> None:
    """Outside of any call it does what it does without us."""
    (each,) = searching(parts, slice(1))
    result = each.invoke({"query": "?"}) if way == "invoke" else asyncio.run(each.ainvoke({"query": "?"}))
    assert result == parts.notes[0].page_content
    assert not seen.assessments


def test_a_conversation_that_goes_on(parts: Any, seen: Any) -> None:
    """What a tool found in an earlier turn, and left in its message, is shown as long as the messages show it."""
    found = ToolMessage(parts.joined(parts.notes[4:]), tool_call_id="1", artifact=parts.notes[4:])
    retriever = parts.vector(1)

    def ask(question: str) -> Any:
        if question == "n5":
            MODEL.invoke([found])
        else:
            MODEL.invoke([found, HumanMessage(parts.joined(retriever.invoke(question)))])

    chain = RunnableLambda(ask)
    chain.invoke("n6")
    chain.invoke("n5")
    assert [(each.verdict, each.selected_rank) for each in seen.assessments] == [
        (rop.Verdict.PASS, 2),
        (rop.Verdict.PASS, 1),
    ]
    assert seen.captured.records[0].stages[-1].returned == ("n5", "n6", "n1")
