"""Retrieval that no part of a chain tells of: its call is a handoff from then on; retrieval outside of any call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import Context, copy_context
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel
from opentelemetry.context import get_current
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span
from rop_otel_langchain.containing import contains_retrieval

import rop_otel as rop
from rop_otel.testing import capture

MODEL = FakeListChatModel(responses=["So it is."])
WAYS = ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"]


class Service:
    """Keeps its retriever where no chain is looked for one: in an object of an object."""

    def __init__(self, retriever: Any) -> None:
        self.kept = [{"retriever": retriever}]

    def find(self, question: str) -> Any:
        """Retrieve."""
        return self.kept[0]["retriever"].invoke(question)


class Application:
    """Has a service."""

    def __init__(self, retriever: Any) -> None:
        self.service = Service(retriever)

    def ask(self, question: str) -> str:
        """Retrieve, cut, and show the rest to a model."""
        documents = self.service.find(question)[1:]
        return str(MODEL.invoke("\n".join(document.page_content for document in documents)).content)


@pytest.fixture
def hidden(parts: Any) -> Runnable[Any, Any]:
    """A chain that retrieves and does not look like it."""
    chain = RunnableLambda(lambda question: question) | Application(parts.vector()).ask | str
    assert not contains_retrieval(chain)
    return chain


def call(chain: Any, way: str, question: str) -> None:
    """Call a chain in one of the ways."""

    async def pieces() -> None:
        async for _ in chain.astream(question):
            pass

    if way == "astream":
        asyncio.run(pieces())
    elif way.startswith("a"):
        asyncio.run(getattr(chain, way)([question] if way == "abatch" else question))
    else:
        list(getattr(chain, way)([question] if way == "batch" else question))


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_turns_out_to_retrieve(hidden: Any, seen: Any, way: str) -> None:
    """It is a handoff with its own inputs, and all that comes after the retrieval is a part of it."""
    before = get_current()
    call(hidden, way, "n1")
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("packing", ["n2", "n3"])]
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")
    assert seen.assessment.handoff_name == "RunnableSequence"
    assert get_current() == before


def test_functions_around_the_first_retrieval(parts: Any, seen: Any) -> None:
    """The function in which it happens is watched to its end, and so are those after it."""
    application = Application(parts.vector())

    def cut(question: str) -> Any:
        return application.service.find(question)[:2]

    chain = RunnableLambda(cut) | parts.joined | MODEL
    assert not contains_retrieval(chain)
    chain.invoke("n3")
    assert seen.lists[1:] == [("cut", ["n1", "n2"]), ("packing", ["n1", "n2"])]
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at cut: the stage dropped it")


def test_the_first_retrievals_are_several(parts: Any, instrument: Callable[..., None]) -> None:
    """Threads that retrieve at once have one handoff, for which the selector is asked once."""
    asked: list[object] = []
    one, two = Application(parts.vector(2)), Application(parts.BM25Retriever(results=parts.notes[3:5]))
    both = RunnableParallel(one=lambda asked: one.service.find(asked), two=lambda asked: two.service.find(asked))
    assert not contains_retrieval(both)
    instrument(selected_by=lambda inputs: asked.append(inputs) or "n4")
    with capture() as captured:
        both.invoke("?")
    assert asked == ["?"]
    assert sorted(stage.kind for stage in captured.records[0].stages) == ["lexical", "vector"]


def test_in_a_handoff_of_the_applications_own(parts: Any, seen: Any) -> None:
    """One that is open around the call, or opened inside of it, is the one."""
    application = Application(parts.vector())
    with rop.handoff("around"):
        RunnableLambda(application.ask).invoke("n2")

    def ask(question: str) -> str:
        with rop.handoff("inside", selected=question):
            return application.ask(question)

    RunnableLambda(ask).invoke("n3")
    told = [(each.handoff_name, each.verdict, each.selected_rank) for each in seen.assessments]
    assert told == [("around", rop.Verdict.PASS, 1), ("inside", rop.Verdict.PASS, 2)]


def test_what_goes_on_when_the_call_is_over(parts: Any, seen: Any) -> None:
    """It is late for a handoff: one that began now would have no end."""
    within: list[str] = []

    class Noting(parts.Given):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            within.append(rop.current_handoff().id)
            return self.results

    retriever = Noting(results=parts.notes)
    contexts: list[Context] = []
    RunnableLambda(lambda _: contexts.append(copy_context())).invoke("n1")
    contexts[0].run(retriever.invoke, "n1")
    assert within == [""]
    assert not seen.assessments


def test_a_batch_that_takes_no_configuration(parts: Any, seen: Any) -> None:
    """A method of the application is handed no argument that it does not know, also where its chain retrieves."""

    class Own(Runnable[Any, Any]):
        def __init__(self) -> None:
            self.retriever = parts.vector()

        def invoke(self, question: Any, config: Any = None) -> Any:  # type: ignore[override]
            return self.retriever.invoke(question)

        def batch(self, questions: Any) -> Any:  # type: ignore[override]
            return [self.invoke(question) for question in questions]

    assert len(Own().batch(["n1", "n2"])) == 2
    assert len(seen.assessments) == 2


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Tells what the package warned of, and nothing was before."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    return lambda: [said for each in caplog.records if "outside of any handoff" in (said := each.getMessage())]


@pytest.mark.parametrize(
    ("around", "said"),
    [(False, "vector: it ran outside"), (True, "LangChain: VectorStoreRetriever retrieved outside")],
    ids=["alone", "in a request"],
)
def test_a_retriever_by_itself_is_told_once(
    parts: Any, seen: Any, warned: Callable[[], list[str]], around: bool, said: str
) -> None:
    """Outside of any handoff nothing is judged; what to write is said, once, also where a server's span is around."""
    request = NonRecordingSpan(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1)))
    with use_span(request) if around else nullcontext():
        for _ in range(2):
            parts.vector().invoke("?")
            asyncio.run(parts.store().asimilarity_search("?"))
    assert len(warned()) == 1
    assert warned()[0].startswith(said)
    assert "with rop.handoff(" in warned()[0]


def test_a_function_that_retrieves_by_itself_is_told(parts: Any, seen: Any, warned: Callable[[], list[str]]) -> None:
    """A chain in which only a function of the application finds documents is no handoff, and that is said."""

    def own_index(question: str) -> Any:
        return parts.notes[:2]

    (RunnableLambda(own_index) | parts.joined | MODEL).invoke("n1")
    assert not seen.assessments
    assert [message[:42] for message in warned()] == ["LangChain: own_index retrieved outside of "]


def test_where_nothing_has_to_be_told(
    parts: Any, instrument: Callable[..., None], warned: Callable[[], list[str]]
) -> None:
    """In a handoff, in a selector and where monitoring is off, a retriever by itself is as it should be."""
    retriever = parts.vector()
    instrument(selected_by=lambda _: retriever.invoke("?")[0].id)
    with capture() as captured:
        parts.lcel(parts.vector()).invoke("?")
        with rop.handoff("mine"):
            retriever.invoke("?")
    assert captured.assessments[0].verdict is rop.Verdict.PASS
    rop.configure(enabled=False)
    retriever.invoke("?")
    assert not warned()
