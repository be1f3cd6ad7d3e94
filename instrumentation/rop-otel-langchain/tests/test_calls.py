"""Calls as applications write them: wrapped methods take what the original ones take."""

from __future__ import annotations

import asyncio
import functools
import types
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextvars import copy_context
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompt_values import StringPromptValue
from langchain_core.runnables import Runnable, base
from langchain_core.vectorstores import VectorStore
from opentelemetry.context import attach, detach, get_current, set_value
from rop_otel_langchain import LangChainInstrumentor
from wrapt import FunctionWrapper

import rop_otel as rop


class Own(Runnable[Any, Any]):
    """A chain of the application, whose argument has a name of its own."""

    def __init__(self, retriever: Any = None) -> None:
        self.retriever = retriever

    def invoke(self, state: Any, config: Any = None) -> Any:  # type: ignore[override]
        """Retrieve."""
        return self.retriever.invoke(state) if self.retriever else state

    async def ainvoke(self, state: Any, config: Any = None) -> Any:  # type: ignore[override]
        """Retrieve."""
        return self.invoke(state)

    def stream(self, state: Any, config: Any = None) -> Iterator[Any]:  # type: ignore[override]
        """Retrieve."""
        yield self.invoke(state)

    async def astream(self, state: Any, config: Any = None) -> AsyncIterator[Any]:  # type: ignore[override]
        """Retrieve."""
        yield self.invoke(state)

    def batch(self, states: Any) -> Any:  # type: ignore[override]
        """Return what it is given."""
        return states


async def _collected(stream: AsyncIterator[Any]) -> list[Any]:
    return [each async for each in stream]


CALLS: list[Callable[[Any], Any]] = [
    lambda own: own.invoke(state="n1"),
    lambda own: own.invoke(config=None, state="n1"),
    lambda own: asyncio.run(own.ainvoke(state="n1")),
    lambda own: next(iter(own.stream(state="n1"))),
    lambda own: asyncio.run(_collected(own.astream(state="n1")))[0],
]


@pytest.mark.parametrize("call", CALLS)
def test_arguments_by_names_of_their_own(parts: Any, seen: Any, call: Callable[[Any], Any]) -> None:
    """An argument that is given by its name arrives, whatever its name is, and the selector is called with it."""
    assert call(Own()) == "n1"
    assert call(Own(parts.vector())) == parts.notes[:3]
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_a_batch_that_takes_nothing_else(seen: Any) -> None:
    """A method is handed no argument that its caller does not give."""
    assert Own().batch([1, 2]) == [1, 2]
    assert Own().batch(states=[1, 2]) == [1, 2]


def test_prompts_by_name(seen: Any) -> None:
    """Models take their prompts by name, as libraries that evaluate answers call them."""
    model: Any = FakeListChatModel(responses=["So it is."])
    prompts = [StringPromptValue(text="Is it?")]
    assert model.generate_prompt(prompts=prompts).generations[0][0].text == "So it is."
    assert asyncio.run(model.agenerate_prompt(prompts=prompts)).generations[0][0].text == "So it is."
    assert model.invoke(input="Is it?").content == "So it is."


@pytest.mark.parametrize("config", [lambda given: ((given,), {}), lambda given: ((), {"config": given})])
def test_a_batch_with_a_configuration(parts: Any, seen: Any, config: Any) -> None:
    """Its configuration arrives however it is given, and each input is a handoff."""
    args, kwargs = config({"run_name": "docs"})
    chain = parts.lcel(parts.vector())
    assert len(chain.batch(["n1", "n2"], *args, **kwargs)) == 2
    assert len(asyncio.run(chain.abatch(*args[1:], inputs=["n1"], config={"run_name": "docs"}))) == 1
    assert {each.handoff_name for each in seen.assessments} == {"docs"}
    assert len(seen.assessments) == 3


def test_a_wrapper_of_others_below_ours(parts: Any, instrument: Any) -> None:
    """What others wrapped before is called with its object, as without us."""
    instances: list[Any] = []

    def watched(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        instances.append(instance)
        return wrapped(*args, **kwargs)

    class Watched(Own):
        invoke = FunctionWrapper(Own.invoke, watched)

    instrument()
    own = Watched(parts.vector())
    assert own.invoke("n1") == parts.notes[:3]
    assert instances == [own]


class Answering:
    """Stands in for a method, as a test's double does: it is called without the object, and has no name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the arguments."""
        return args, kwargs


class Store(VectorStore):
    """Members that are called without the object."""

    similarity_search: Any = Answering()
    max_marginal_relevance_search: Any = staticmethod(lambda *args: args)

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> Any:
        """Make nothing."""


def test_members_that_are_no_methods(seen: Any) -> None:
    """They are called as without us."""
    assert Store().similarity_search("n1", k=2) == (("n1",), {"k": 2})
    assert Store().max_marginal_relevance_search("n1") == ("n1",)


def test_a_function_that_others_replaced_stays(instrument: Any) -> None:
    """What others put over a function of LangChain's module stays when ours goes."""
    instrument()
    ours = vars(base)["call_func_with_variable_args"]
    theirs = functools.wraps(ours)(lambda *args, **kwargs: ours(*args, **kwargs))
    try:
        vars(base)["call_func_with_variable_args"] = theirs
        LangChainInstrumentor().uninstrument()
        assert vars(base)["call_func_with_variable_args"] is theirs
    finally:
        vars(base)["call_func_with_variable_args"] = ours.__wrapped__


@types.coroutine
def _waiting() -> Generator[None, None, None]:
    yield


class Waiting(Own):
    """A chain that waits for something that does not come."""

    async def ainvoke(self, state: Any, config: Any = None) -> Any:  # type: ignore[override]
        """Wait."""
        await _waiting()


class Reranker(BaseDocumentCompressor):
    """A component that does."""

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        """Return what it is given."""
        return documents

    async def acompress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        """Wait."""
        await _waiting()


@pytest.mark.parametrize(
    "call", [lambda parts: Waiting(parts.vector()).ainvoke("?"), lambda parts: Reranker().acompress_documents([], "?")]
)
def test_a_call_that_is_given_up(parts: Any, instrument: Any, call: Callable[[Any], Any]) -> None:
    """A coroutine that nobody ends is closed wherever it is garbage: nothing is raised there, nothing changes."""
    instrument()
    coroutine = call(parts)
    copy_context().run(coroutine.send, None)
    token = attach(set_value("place", "elsewhere"))
    try:
        before = get_current()
        coroutine.close()
        assert get_current() is before
    finally:
        detach(token)
