"""Which chains retrieve."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from rop_otel_langchain import containing
from rop_otel_langchain.containing import contains_retrieval

HELD: list[Any] = []


class Application:
    """Has a retriever."""

    def __init__(self, retriever: Any) -> None:
        self.retriever = retriever

    def answer(self, question: str) -> Any:
        """Retrieve."""
        return self.retriever.invoke(question)

    __call__ = answer


def ask(application: Application, question: str) -> Any:
    """Retrieve."""
    return application.answer(question)


MADE = Application(None)


def through_a_global(question: str) -> Any:
    """Retrieve, in a function inside of this one."""
    return (lambda: MADE.answer(question))()


def through_another(question: str) -> Any:
    """Retrieve."""
    return through_a_global(question)


SHAPES: dict[str, Any] = {
    "sequence": lambda retriever: RunnableLambda(str) | retriever,
    "parallel": lambda retriever: RunnableParallel(a=RunnablePassthrough(), b=retriever),
    "assign": lambda retriever: RunnablePassthrough.assign(a=lambda inputs: retriever.invoke(inputs["q"])),
    "bound": lambda retriever: (RunnableLambda(str) | retriever).with_config(run_name="x").with_retry(),
    "fallback": lambda retriever: RunnableLambda(str).with_fallbacks([retriever]),
    "branch": lambda retriever: RunnableBranch((bool, retriever), RunnableLambda(str)),
    "partial": lambda retriever: RunnableLambda(functools.partial(ask, Application(retriever))),
    "method": lambda retriever: RunnableLambda(Application(retriever).answer),
    "callable": lambda retriever: RunnableLambda(Application(retriever)),
    "store": lambda retriever: RunnableLambda(lambda question: retriever.vectorstore.similarity_search(question)),
    "closure": lambda retriever: RunnableLambda(lambda question: [retriever for _ in question]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_chains_that_retrieve(parts: Any, shape: str) -> None:
    """A retriever or a store is found wherever a chain may have it."""
    assert contains_retrieval(SHAPES[shape](parts.vector()))


@pytest.mark.parametrize("function", [through_a_global, through_another])
def test_functions_of_a_module(parts: Any, monkeypatch: Any, function: Any) -> None:
    """Functions lead to others, and to objects, of their module."""
    monkeypatch.setattr(MADE, "retriever", parts.vector())
    assert contains_retrieval(RunnableLambda(function))


OTHERS: Any = SimpleNamespace(retriever=None)


def through_an_object_of_others(question: str) -> Any:
    """Retrieve with an object whose class is of another module."""
    return OTHERS.retriever.invoke(question)


def test_an_object_of_another_modules_class(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool of an agent often has its retriever in an object that another module makes."""
    assert not contains_retrieval(RunnableLambda(through_an_object_of_others))
    monkeypatch.setattr(OTHERS, "retriever", parts.vector())
    assert contains_retrieval(RunnableLambda(through_an_object_of_others))


def test_chains_that_do_not(parts: Any) -> None:
    """A prompt, a model and functions that know of no retriever are no retrieval, nor is a cycle."""
    HELD[:] = [HELD]
    chain = parts.prompt | FakeListChatModel(responses=["yes"]) | (lambda message: (message, HELD))
    assert not contains_retrieval(chain)
    assert not contains_retrieval(RunnableLambda(through_a_global))


def test_an_answer_is_remembered_as_long_as_its_chain(parts: Any) -> None:
    """The same chain is not searched again, and nothing is kept of it when it is gone."""
    chain = RunnableLambda(str) | parts.vector()
    before = len(containing._known)
    assert contains_retrieval(chain)
    assert len(containing._known) == before + 1
    del chain
    assert len(containing._known) == before


class OfTheRequest:
    """Stands for an object of the request, as web frameworks have them, and there is no request."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("outside of a request")


REQUEST: Any = None


def with_a_request(question: str) -> Any:
    """Ask who asks, then retrieve."""
    return (REQUEST.user, MADE.answer(question))


def test_an_object_that_cannot_be_looked_at(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose own code raises hides nothing beside it, as a global, a closure or an argument."""
    monkeypatch.setattr(MADE, "retriever", parts.vector())
    monkeypatch.setitem(globals(), "REQUEST", OfTheRequest())
    within, retriever = OfTheRequest(), parts.vector()
    assert contains_retrieval(RunnableLambda(with_a_request))
    assert contains_retrieval(RunnableLambda(lambda question: (within, retriever.invoke(question))))
    assert contains_retrieval(RunnableLambda(functools.partial(lambda *given: given, within, retriever)))
