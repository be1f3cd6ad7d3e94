"""Functions that take or give documents, and the prompts that are made of documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import BaseModel

import rop_otel as rop

MODEL = FakeListChatModel(responses=["So it is."])


def keep_two(documents: Sequence[Document]) -> list[Document]:
    """Cut."""
    return [*documents[:2]]


async def akeep_two(documents: Sequence[Document]) -> list[Document]:
    """Cut."""
    return [*documents[:2]]


@pytest.mark.parametrize("function", [keep_two, akeep_two])
def test_a_function_between_is_a_stage_with_its_name(parts: Any, seen: Any, function: Any) -> None:
    """A function that takes and gives documents is a stage, and a loss there names it."""
    chain = parts.lcel(parts.vector() | RunnableLambda(function))
    asyncio.run(chain.ainvoke("n3"))
    assert seen.lists[1:] == [(function.__name__, ["n1", "n2"]), ("packing", ["n1", "n2"])]
    assert str(seen.assessment).endswith(
        f"FAIL, the selected object was lost at {function.__name__}: the stage dropped it"
    )


def test_a_function_in_a_stream(parts: Any, seen: Any) -> None:
    """In a stream functions are called in another way, and seen as well."""
    assert [*parts.lcel(parts.vector() | keep_two).stream("n3")]
    assert seen.kinds == ["vector", "keep_two", "packing"]


def test_functions_without_a_name(parts: Any, seen: Any) -> None:
    """A lambda, and a function that is named like what a reader is shown, are a ``function``."""

    def packing(documents: Sequence[Document]) -> list[Document]:
        return [*documents[:1]]

    parts.lcel(parts.vector() | (lambda documents: documents[:2]) | packing).invoke("n1")
    assert seen.kinds == ["vector", "function", "function", "packing"]


def test_a_function_that_finds_documents_is_a_source(parts: Any, seen: Any) -> None:
    """Documents that come from no documents, and from no stage inside, are retrieved."""

    def own_index(question: str) -> list[Document]:
        return [*parts.notes[:2]]

    parts.lcel(parts.vector(1) | (lambda _: "again") | RunnableLambda(own_index)).invoke("n2")
    assert [(stage.kind, stage.source) for stage in seen.stages[:2]] == [("vector", False), ("retriever", True)]


def test_a_function_that_only_passes_documents_on_is_no_stage(parts: Any, seen: Any) -> None:
    """Neither one that returns what a stage inside of it returned, nor one that copies documents, is one."""
    retriever = parts.vector()

    def found(question: str) -> list[Document]:
        return retriever.invoke(question)  # type: ignore[no-any-return]

    def copied(documents: list[Document]) -> list[Document]:
        return [document.model_copy() for document in documents]

    parts.lcel(RunnableLambda(found) | copied).invoke("n2")
    assert seen.kinds == ["vector", "packing"]


def test_documents_in_a_mapping(parts: Any, seen: Any) -> None:
    """Documents that a function takes out of its inputs, and puts back into them, are seen."""

    def cut(inputs: dict[str, Any]) -> dict[str, Any]:
        return {**inputs, "context": inputs["context"][:1]}

    retrieved = RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | parts.vector())
    formatted = RunnablePassthrough.assign(context=lambda inputs: parts.joined(inputs["context"]))
    (retrieved | cut | formatted | parts.prompt).invoke({"input": "n2"})
    assert seen.lists[1:] == [("cut", ["n1"]), ("packing", ["n1"])]


def fuse(results: list[list[Document]]) -> list[tuple[Document, float]]:
    """Merge the results of several questions, each document with a score, and lose the first."""
    merged = {document.id: document for documents in results for document in documents}
    return [(document, 1.0) for document in merged.values()][1:]


def unpack(pairs: list[tuple[Document, float]]) -> list[Document]:
    """Leave the scores out."""
    return [document for document, _ in pairs]


def test_a_function_that_fuses_results_of_several_questions(parts: Any, seen: Any) -> None:
    """A function that takes lists of documents in a list, and gives documents with scores, is a stage that is fed."""
    found = (lambda question: [question, f"{question}?"]) | parts.vector().map() | fuse | unpack
    parts.lcel(found).invoke("n1")
    assert seen.lists[2:] == [("fuse", ["n2", "n3"]), ("packing", ["n2", "n3"])]
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at fuse: the stage dropped it")


def test_the_prompt_says_what_was_packed(parts: Any, seen: Any) -> None:
    """Of the documents that a formatting function is handed, those count whose text it wrote, in its order."""

    def last_first(documents: Sequence[Document]) -> str:
        return " ".join(document.page_content.replace(" ", "\n") for document in documents[:0:-1])

    parts.lcel(parts.vector(), last_first).invoke("n1")
    packing = seen.stages[-1]
    assert (packing.input, packing.returned) == (("n1", "n2", "n3"), ("n3", "n2"))
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")


def test_labels_are_those_of_the_prompt(parts: Any, seen: Any) -> None:
    """A label in brackets before each text is what the answer may cite; not where one has none."""

    def numbered(documents: Sequence[Document]) -> str:
        return "\n".join(f"[{place}] {each.page_content}" for place, each in enumerate(documents, 1))

    parts.lcel(parts.vector(), numbered).invoke("n1")
    assert (seen.stages[1].labels, seen.kinds) == (("1", "2", "3"), ["vector", "packing", "reader"])

    def partly(documents: Sequence[Document]) -> str:
        return f"[1] {parts.joined(documents)}"

    parts.lcel(parts.vector(), partly).invoke("n1")
    assert seen.captured.records[-1].stages[-1].labels is None


def test_a_text_that_shows_no_document_is_no_prompt(parts: Any, seen: Any) -> None:
    """A function that tells a number or a name of documents packs nothing: nothing is guessed."""
    (parts.vector() | (lambda documents: f"{len(documents)} documents")).invoke("n1")
    assert seen.kinds == ["vector"]


def test_documents_in_a_prompt_as_they_are(parts: Any, seen: Any) -> None:
    """Documents that a prompt is given without any formatting are packed."""
    chain = {"context": parts.vector(), "input": RunnablePassthrough()} | parts.prompt
    chain.invoke("n2")
    assert seen.lists[-1] == ("packing", ["n1", "n2", "n3"])
    asyncio.run((chain | FakeListChatModel(responses=["yes"])).ainvoke("n2"))
    assert seen.assessments[-1].verdict is rop.Verdict.PASS


def test_a_batch_of_prompts(parts: Any, seen: Any) -> None:
    """In a batch each prompt is its own question's."""
    chain = {"context": parts.vector(), "input": RunnablePassthrough()} | parts.prompt
    chain.batch(["n2", "n5"])
    assert sorted(assessment.verdict for assessment in seen.assessments) == ["FAIL", "PASS"]


def test_the_stuff_chain_packs(parts: Any, seen: Any) -> None:
    """LangChain's own chain formats documents with a function of its own, which is seen likewise."""
    parts.qa(parts.vector()).invoke({"input": "n2"})
    assert seen.kinds == ["vector", "packing", "reader"]
    assert seen.stages[1].input == ("n1", "n2", "n3")


@pytest.mark.parametrize("mapped", [False, True])
def test_a_function_that_keeps_nothing(parts: Any, seen: Any, mapped: bool) -> None:
    """An empty list in the place of documents is what a filter returns that rejects all of them."""

    def good_enough(documents: Any) -> Any:
        return {**documents, "context": []} if mapped else []

    if mapped:
        retrieved = RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | parts.vector())
        (retrieved | good_enough | parts.prompt).invoke({"input": "n2"})
    else:
        parts.lcel(parts.vector() | good_enough).invoke("n2")
    assert seen.lists == [("vector", ["n1", "n2", "n3"]), ("good_enough", [])]
    assert str(seen.assessment).endswith(
        "lost at good_enough: the stage dropped it; findings: nothing_returned at good_enough"
    )


def test_an_empty_list_beside_documents(parts: Any, seen: Any) -> None:
    """One that is not in their place says nothing of them."""

    def with_history(documents: Any) -> Any:
        return {"context": documents, "history": []}

    (parts.vector() | with_history | (lambda inputs: parts.joined(inputs["context"]))).invoke("n2")
    assert seen.kinds == ["vector", "packing"]


def test_documents_that_come_back(parts: Any, seen: Any) -> None:
    """Those that a function left out are shown all the same where the prompt holds their whole text, once for each."""
    again = Document(id="n9", page_content=parts.notes[1].page_content)
    found: list[Document] = []

    def keep(documents: list[Document]) -> list[Document]:
        found.extend(documents[:3])
        return documents[1:2]

    source = parts.Given(results=[*parts.notes[:3], again, Document(id="n8", page_content=" ")])
    (source | keep | (lambda kept: parts.joined(found)) | MODEL).invoke("n3")
    assert seen.lists[1:] == [("keep", ["n2"]), ("packing", ["n1", "n2", "n3"])]
    assert seen.stages[-1].input == ("n2", "n1", "n3")
    assert seen.assessment.verdict is rop.Verdict.PASS


@dataclass
class State:
    """What the nodes of a graph hand on, as an object."""

    input: str
    documents: list[Document] = field(default_factory=list)


class Checked(BaseModel):
    """The same, which pydantic checks."""

    input: str
    documents: list[Document] = []


@pytest.mark.parametrize("state", [State, Checked])
def test_documents_in_an_object(parts: Any, seen: Any, state: Any) -> None:
    """A state that is an object holds documents as a mapping does."""
    retriever = parts.vector()

    def retrieve(given: Any) -> Any:
        return state(input=given.input, documents=retriever.invoke(given.input))

    def cut(given: Any) -> Any:
        return {"documents": given.documents[:1]}

    (RunnableLambda(retrieve) | cut | (lambda given: parts.joined(given["documents"]))).invoke(state(input="n1"))
    assert seen.lists[1:] == [("cut", ["n1"]), ("packing", ["n1"])]
