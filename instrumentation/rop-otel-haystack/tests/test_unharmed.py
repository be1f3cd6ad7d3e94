"""An application whose objects are not to be touched, and that goes on as it would without."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool
from rop_otel_haystack.reading import documents_in

from rop_otel.tracing.running import runtime

QUESTION = "a task after a timeout"
ASKED = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
QUIET: Any = {"handler": lambda _: "quiet"}


def around_itself() -> list[Any]:
    """Return a list that holds itself."""
    ring: list[Any] = []
    ring += [{"ring": ring}, ring]
    return ring


class Asked:
    """Stands for an object that is loaded when anything is asked of it, its class too."""

    times = 0

    @property
    def __class__(self) -> Any:
        self.times += 1
        return dict

    @__class__.setter
    def __class__(self, other: Any) -> None:
        raise AssertionError

    def __getattr__(self, name: str) -> Any:
        self.times += 1
        raise AttributeError(name)


class Counted(list[Any]):
    """A list that counts how many of its elements are looked at."""

    looked = 0

    def __iter__(self) -> Iterator[Any]:
        for each in super().__iter__():
            self.looked += 1
            yield each


class Pause:
    """Is awaited once, by whoever steps the coroutine."""

    def __await__(self) -> Iterator[None]:
        yield


@component
class Model:
    """Calls the tool once, and then answers."""

    def __init__(self) -> None:
        self._asked = False

    def _reply(self) -> dict[str, Any]:
        calls = None if self._asked else [ToolCall(tool_name="notes", arguments={"query": QUESTION}, id="1")]
        self._asked = True
        return {"replies": [ChatMessage.from_assistant(None if calls else "Cancel it.", tool_calls=calls)]}

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        """Answer."""
        return self._reply()

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        """Answer when it is stepped on."""
        await Pause()
        return self._reply()


def an_agent(function: Any, **more: Any) -> Agent:
    """Return an agent with a function for a tool."""
    tool = Tool(name="notes", description="finds notes", function=function, parameters=ASKED, **more)
    made = Agent(chat_generator=Model(), tools=[tool])
    made.warm_up()
    return made


def said(agent: Agent) -> list[str]:
    """Run an agent, and return what its tool and the agent said."""
    messages = agent.run(messages=[ChatMessage.from_user("how?")])["messages"]
    return [str(each.tool_call_result.result if each.tool_call_result else each.text) for each in messages[-2:]]


@component
class Ringed:
    """Finds a note, and returns something that holds itself."""

    @component.output_types(documents=list[Document], ring=list[Any])
    def run(self, query: str) -> dict[str, Any]:
        """Find it."""
        return {"documents": [Document(id="shield", content="shield it")], "ring": around_itself()}


def test_a_result_that_holds_itself(selecting: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is read once; in a tool's pipeline it raised into the tool."""
    watch = selecting("shield")
    pipeline = Pipeline()
    pipeline.add_component("ringed", Ringed())

    def notes(query: str) -> str:
        return str(pipeline.run({"ringed": {"query": query}})["ringed"]["documents"][0].content)

    assert said(an_agent(notes)) == ["shield it", "Cancel it."]
    assert said(an_agent(lambda query: around_itself(), outputs_to_string=QUIET)) == ["quiet", "Cancel it."]
    assert (watch.only.verdict, caplog.records) == ("PASS", [])


@pytest.mark.parametrize("element", [0.5, "word", None, [0.5] * 1000], ids=["number", "text", "none", "vector"])
def test_a_table_that_holds_no_documents(element: object) -> None:
    """It is not looked through, and documents beside it are found."""
    table = Counted([element] * 1_000_000)
    found = [Document(id="shield", content="shield it")]
    assert documents_in({"found": found, "table": table}) == found
    assert table.looked <= 20_000


def test_an_object_that_is_loaded_when_it_is_asked(selecting: Any) -> None:
    """Nothing is asked of what a tool returns."""
    selecting("shield")
    asked = Asked()
    documents_in([asked, {"user": asked}])
    assert asked.times == 0


def test_a_component_that_loads_its_model_late(selecting: Any) -> None:
    """A property is not read where a component is made, or run by hand."""
    selecting("shield")
    loaded: list[object] = []

    @component
    class Late:
        @property
        def pipeline(self) -> object:
            loaded.append(self)
            raise RuntimeError("load it first")

        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": []}

    assert Late().run(query="x") == {"documents": []}
    assert loaded == []


def step_on(coroutine: Any, steps: int) -> None:
    """Run a coroutine in a context of its own until it has waited so often."""
    context = contextvars.copy_context()
    for _ in range(steps):
        context.run(coroutine.send, None)


def test_an_agent_that_is_given_up(selecting: Any, parts: Any) -> None:
    """Its coroutine may be closed inside of another agent's run, whose handoff is not mixed up."""
    watch = selecting("timeouts")
    search = InMemoryBM25Retriever(parts.notes(), top_k=1)
    given_up = an_agent(lambda query: "nothing").run_async(messages=[ChatMessage.from_user("how?")])
    step_on(given_up, 1)

    def notes(query: str) -> str:
        return str(search.run(query=query)["documents"][0].content)

    def ask(query: str) -> str:
        given_up.close()
        return "".join(said(an_agent(notes)))

    said(an_agent(ask))
    assert (watch.only.verdict, {stage.round for stage in watch.only.stages}) == ("PASS", {2})


def test_a_tool_that_is_called_after_the_end(selecting: Any, parts: Any) -> None:
    """What goes on in a thread when the run is over begins no handoff of it, which nothing would end."""
    watch = selecting("timeouts")
    search = InMemoryBM25Retriever(parts.notes(), top_k=1)
    left: list[contextvars.Context] = []

    @component
    class Leaving:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
            left.append(contextvars.copy_context())
            return {"replies": [ChatMessage.from_assistant("Cancel it.")]}

    tool = Tool(name="notes", description="finds notes", function=search.run, parameters=ASKED)
    agent = Agent(chat_generator=Leaving(), tools=[tool])
    agent.warm_up()
    said(agent)
    assert len(left[0].run(tool.invoke, query=QUESTION)["documents"]) == 1
    assert (watch.all, runtime.current().ledger.open_count()) == ([], 0)
