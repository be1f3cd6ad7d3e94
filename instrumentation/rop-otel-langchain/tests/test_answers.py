"""What chains, agents and models say of their answers by themselves: what these cite, and that there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from rop_otel_langchain import LangChainInstrumentor
from rop_otel_langchain.texts import refuses

PAGES = [Document(f"Page {name} says what {name} is about.", metadata={"source": name}) for name in ("p1", "p2", "p3")]


def chain_with_sources(parts: Any, answer: str, **given: Any) -> Any:
    """Return the chain of LangChain's that asks for the sources, and gives them apart from the answer."""
    chain = parts.classic("chains.RetrievalQAWithSourcesChain")
    model = FakeListChatModel(responses=[answer])
    return chain.from_chain_type(model, retriever=parts.Given(results=PAGES), **given)


LABELLED = {"document_prompt": PromptTemplate.from_template("[{source}] {page_content}")}


@pytest.fixture
def by_source(seen: Any) -> Any:
    """Read IDs where documents of LangChain have their sources."""
    LangChainInstrumentor().uninstrument()
    LangChainInstrumentor().instrument(id_keys="source")
    return seen


@pytest.mark.parametrize("given", [{}, {"return_source_documents": True}])
@pytest.mark.parametrize(
    ("sources", "attached", "found"),
    [
        ("p3, p1", ("p3", "p1"), set()),
        ("p1", ("p1",), set()),
        ("", (), set()),
        ("p1, p9", ("p1",), {"citation_unresolved"}),
        ("p9", (), {"citation_unresolved"}),
    ],
)
def test_an_answer_that_names_its_sources(
    parts: Any, by_source: Any, given: dict[str, Any], sources: str, attached: tuple[str, ...], found: set[str]
) -> None:
    """They are what it cites; one that was not shown is made up."""
    answer = f"So it is.\nSOURCES: {sources}"
    chain_with_sources(parts, answer, chain_type_kwargs=LABELLED, **given).invoke({"question": "What?"})
    reader = by_source.stages[-1]
    assert (reader.kind, reader.attaches, reader.returned) == ("reader", "cited", attached)
    assert reader.citations == tuple(each for each in sources.split(", ") if each)
    assert {each.code for each in by_source.assessment.findings} == found


@pytest.mark.parametrize(("sources", "attached"), [("p3, p1", ("p3", "p1")), ("", ()), ("p9", None)])
def test_sources_that_no_label_names(
    parts: Any, by_source: Any, sources: str, attached: tuple[str, ...] | None
) -> None:
    """Where the sources stand behind the passages no label is read: what is attached is known, and nothing checked."""
    chain_with_sources(parts, f"So it is.\nSOURCES: {sources}").invoke({"question": "What?"})
    reader = by_source.stages[-1]
    assert (reader.kind, reader.attaches, reader.returned, reader.citations) == ("reader", "cited", attached, ())
    assert by_source.assessment.findings == ()


REFUSED = AIMessage("", additional_kwargs={"refusal": "I cannot help with that."})


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        (AIMessage("So it is."), False),
        (AIMessage("", response_metadata={"stop_reason": "end_turn"}), False),
        (REFUSED, True),
        (AIMessage("", response_metadata={"stop_reason": "refusal"}), True),
        (AIMessage("", response_metadata={"finish_reason": "content_filter"}), True),
        (AIMessage([{"type": "refusal", "refusal": "No."}]), True),
        (LLMResult(generations=[[ChatGeneration(message=REFUSED)]]), True),
        ("refusal", False),
        (None, False),
    ],
)
def test_a_model_that_refuses(message: Any, refused: bool) -> None:
    """Its message says so beside the text."""
    assert refuses(message) is refused


@pytest.mark.parametrize(("message", "abstained"), [(AIMessage("So it is."), None), (REFUSED, True)])
def test_the_answer_of_a_model_that_refuses(parts: Any, seen: Any, message: AIMessage, abstained: bool | None) -> None:
    """It is no answer, also where the chain gives on the text alone."""
    context = parts.vector() | RunnableLambda(lambda documents: f"[1] {documents[0].page_content}")
    asked = {"context": context, "input": RunnableLambda(str)} | parts.prompt
    (asked | GenericFakeChatModel(messages=iter([message])) | RunnableLambda(lambda said: said.content)).invoke("n1")
    assert seen.lists[1] == ("packing", ["n1"])
    assert (seen.stages[-1].kind, seen.stages[-1].abstained) == ("reader", abstained)


class Refusing(GenericFakeChatModel):
    """A model that says only in the last piece of its stream that it refuses."""

    last: AIMessageChunk

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk("So "))
        yield ChatGenerationChunk(message=self.last)


PIECES = [
    (AIMessageChunk("it is."), None),
    (AIMessageChunk("", additional_kwargs={"refusal": "No."}), True),
    (AIMessageChunk("", response_metadata={"finish_reason": "content_filter"}), True),
]


@pytest.mark.parametrize(("last", "abstained"), PIECES)
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_refusal_that_streams(parts: Any, seen: Any, last: AIMessageChunk, abstained: bool | None, way: str) -> None:
    """A model may say at the end of its stream that it refuses, also where the chain gives on the text alone."""
    context = parts.vector() | RunnableLambda(lambda documents: f"[1] {documents[0].page_content}")
    asked = {"context": context, "input": RunnableLambda(str)} | parts.prompt
    chain = asked | Refusing(messages=iter([]), last=last) | StrOutputParser()

    async def pieces() -> list[str]:
        return [piece async for piece in chain.astream("n1")]

    if way == "astream":
        asyncio.run(pieces())
    else:
        list(chain.stream("n1"))
    assert seen.lists[1] == ("packing", ["n1"])
    readers = [each.abstained for each in seen.stages if each.kind == "reader"]
    assert readers == [abstained]


@pytest.mark.parametrize(("found", "abstained"), [([], True), (PAGES, None)])
def test_a_chain_that_found_no_documents(parts: Any, seen: Any, found: list[Document], abstained: bool | None) -> None:
    """What it returns then in the place of an answer is none."""
    chain = parts.classic("chains.ConversationalRetrievalChain").from_llm(
        FakeListChatModel(responses=["[1] So it is."]),
        retriever=parts.Given(results=found),
        return_source_documents=True,
        response_if_no_docs_found="Nothing is known of that.",
    )
    chain.invoke({"question": "What?", "chat_history": []})
    readers = [each.abstained for each in seen.stages if each.kind == "reader"]
    assert readers == [abstained]


def test_an_agent_that_comes_to_no_answer(parts: Any, seen: Any) -> None:
    """The sentence that it returns instead is no answer."""
    stopped = RunnableLambda(lambda _: {"output": "Agent stopped due to max iterations."})
    (parts.vector() | stopped).invoke("n1")
    assert seen.stages[-1].abstained is True
