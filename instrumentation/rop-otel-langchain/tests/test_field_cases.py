"""What applications in the field do to documents on their way into a prompt, and what is said of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

import rop_otel as rop
from rop_otel.testing import capture

MODEL = FakeListChatModel(responses=["So it is, says the text."])
LOST = ChatPromptTemplate.from_template("Answer from the context.\n\nContext:\n\nQuestion: {input}")
WAYS = ["invoke", "ainvoke", "stream", "batch"]


def call(chain: Any, way: str, inputs: Any) -> None:
    """Call a chain in one of the ways."""
    if way == "ainvoke":
        asyncio.run(chain.ainvoke(inputs))
    else:
        list(getattr(chain, way)([inputs] if way == "batch" else inputs))


def codes(seen: Any) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code.value for finding in seen.assessment.findings]


def lcel(parts: Any, context: Any, prompt: Any) -> Runnable[Any, Any]:
    """Return a chain of which a retriever, a prompt and a model are the ends."""
    return {"context": context, "input": RunnablePassthrough()} | prompt | MODEL | StrOutputParser()


LOSSES: list[Callable[[Any], Runnable[Any, Any]]] = [
    lambda parts: lcel(parts, parts.vector() | parts.joined, LOST),
    lambda parts: lcel(parts, parts.vector() | parts.joined, LOST) | (lambda answer: answer.upper()),
    lambda parts: {"contxt": parts.vector() | parts.joined, "input": str} | parts.prompt.partial(context="") | MODEL,
    lambda parts: lcel(parts, parts.vector() | (lambda documents: ""), parts.prompt),
    lambda parts: lcel(parts, parts.vector() | (lambda documents: str([each.id for each in documents])), parts.prompt),
    lambda parts: {"context": parts.vector() | parts.joined, "input": str} | LOST | (lambda prompt: "own model"),
    lambda parts: (
        {"context": parts.vector() | parts.joined, "input": str}
        | ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])
        | (lambda prompt: prompt.to_messages()[1:])
        | MODEL
    ),
    lambda parts: RunnableLambda(lambda question: {"input": question}) | parts.qa(parts.vector(), source="-"),
    lambda parts: (
        RunnableLambda(lambda question: {"input": question})
        | RunnablePassthrough.assign(docs=(lambda inputs: inputs["input"]) | parts.vector())
        .assign(answer=LOST | MODEL)
        .assign(sources=lambda inputs: parts.joined(inputs["docs"]))
    ),
]  # fmt: skip
"""A lost placeholder, an answer that is changed, a misspelt variable, an empty text, no text, and so on."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lost", LOSSES)
def test_no_document_is_in_the_prompt(parts: Any, seen: Any, lost: Any, way: str) -> None:
    """It is an error, whichever way the context was lost and the chain is called, and no verdict is given."""
    call(lost(parts), way, "n1")
    assert codes(seen) == ["context_not_in_prompt"]
    assert seen.assessment.verdict is rop.Verdict.UNVERIFIABLE


@pytest.mark.parametrize("kind", ["stuff", "refine", "map_rerank"])
@pytest.mark.filterwarnings("ignore")  # that they are deprecated
def test_the_older_chains_show_all(parts: Any, seen: Any, kind: str) -> None:
    """Each of them shows a model all documents, at once or one after another."""
    model = FakeListChatModel(responses=["It is so.\nScore: 90"])
    older = parts.classic("chains.RetrievalQA").from_chain_type(model, chain_type=kind, retriever=parts.vector())
    older.invoke({"query": "n3", "input": "n3"})
    assert (seen.assessment.verdict, codes(seen)) == (rop.Verdict.PASS, [])


FAQ = {
    "power": "How do I restart the device safely? Unplug it and wait a minute.",
    "light": "What does the red light mean? The line is down.",
    "reset": "How do I reset the password of my home router? Hold the button for ten seconds.",
}
QUESTION = "How do I reset the password of my home router?"
CHAT = ChatPromptTemplate.from_messages([("system", "{context}"), MessagesPlaceholder("history"), ("human", "{input}")])
HISTORY = [HumanMessage(QUESTION), AIMessage("Hold the button for ten seconds.")]
SAYING = ChatPromptTemplate.from_template(f"As in: {QUESTION} Ask your boss.\n\n{{context}}\n\n{{input}}")


@pytest.mark.parametrize("shown", [2, 3])
@pytest.mark.parametrize(
    ("prompt", "inputs"),
    [
        (ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}"), {"input": QUESTION}),
        (CHAT, {"input": QUESTION, "history": []}),
        (CHAT, {"input": "And how long?", "history": HISTORY}),
        (SAYING, {"input": "And?"}),
    ],
)
def test_what_stands_beside_documents_is_no_sign_of_them(
    parts: Any, instrument: Any, prompt: Any, inputs: Any, shown: int
) -> None:
    """A question, a history or a template may repeat a part of a document that was cut off."""
    instrument(selected_by=lambda _: "reset")
    found = parts.Given(results=[Document(id=name, page_content=text) for name, text in FAQ.items()])
    retrieved = (lambda inputs: inputs["input"]) | found | (lambda documents: parts.joined(documents[:shown]))
    with capture() as captured:
        (RunnablePassthrough.assign(context=retrieved) | prompt | MODEL).invoke(inputs)
    told = captured.assessments[0]
    assert (told.verdict, told.dropped_at) == (("PASS", None) if shown == 3 else ("FAIL", "packing"))


LONG = {name: " ".join(f"{name}{n} says something else about {name}{n * 7}." for n in range(12)) for name in "abcd"}


@pytest.mark.parametrize("more", [0, 2, 20, 40, 90, 200])
def test_a_context_that_is_cut(parts: Any, instrument: Any, more: int) -> None:
    """What was cut off is lost, however the cut falls; what was cut through counts with its share."""
    instrument(selected_by=lambda _: "d", judged_by=lambda _: "c")
    found = parts.Given(results=[Document(id=name, page_content=text) for name, text in LONG.items()])
    with capture() as captured:
        parts.lcel(found, lambda documents: parts.joined(documents)[: 2 * len(LONG["a"]) + 4 + more]).invoke("?")
    told = captured.assessments[0]
    assert (told.verdict, told.dropped_at) == ("FAIL", "packing")
    assert told.shown.ids == (("a", "b", "c") if more > 20 else ("a", "b"))
    assert [each.code.value for each in told.findings] == (["passage_cut"] if more > 20 else [])


MARKED = 'Refunds are "paid"\n\n\tfor the café & the <b>shop</b>, in C:\\new, within ten days \N{GRINNING FACE}.'


@pytest.mark.parametrize("write", [json.dumps, repr, str.lower, lambda text: text.replace("\n", "\n> ")])
def test_another_writing(parts: Any, seen: Any, write: Callable[[str], str]) -> None:
    """Templates escape, indent and change documents, which are shown all the same."""
    found = parts.Given(results=[Document(id="n1", page_content=MARKED), *parts.notes[1:3]])
    parts.lcel(found, lambda documents: "\n".join(write(each.page_content) for each in documents)).invoke("n1")
    assert (seen.assessment.verdict, seen.assessment.shown.ids) == (rop.Verdict.PASS, ("n1", "n2", "n3"))


FORMS: list[tuple[str, str]] = [
    ("[{i}] {text}", "[9]"),
    ("[doc{i}]: {text}", "[doc9]"),
    ("Source {i}:\n{text}", "[9]"),
    ("Source ID: {i}\nTitle: x\nSnippet: {text}", "[9]"),
    ("{i}. {text}", "[9]"),
    ("({i}) {text}", "(9)"),
    ("[{i}] title: x\n{text}", "[9]"),
    ("[citation:{id}] {text}", "[citation:n9]"),
    ('<document index="{i}">{text}</document>', "[9]"),
]


def citing(parts: Any, form: str, cited: str) -> Runnable[Any, Any]:
    """Return a chain that labels its passages in one form, and cites."""

    def numbered(inputs: Any) -> str:
        return "\n\n".join(
            form.format(i=place, id=each.id, text=each.page_content) for place, each in enumerate(inputs["context"], 1)
        )

    model = FakeListChatModel(responses=[f"It is so {cited}."])
    answer = {"context": numbered, "input": lambda inputs: inputs["input"]} | parts.prompt | model | StrOutputParser()
    return RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | parts.vector()).assign(answer=answer)


@pytest.mark.parametrize(("form", "cited"), FORMS)
def test_a_citation_of_what_was_not_shown(parts: Any, seen: Any, form: str, cited: str) -> None:
    """Labels are read in all usual forms, and a citation that has none is found."""
    citing(parts, form, cited).invoke({"input": "n1"})
    assert codes(seen) == ["citation_unresolved"]
    citing(parts, form, cited.replace("9", "1")).invoke({"input": "n1"})
    assert (seen.assessments[1].findings, seen.assessments[1].citations.resolved) == ((), 1)


def test_labels_in_a_form_of_the_applications_own(parts: Any, instrument: Any) -> None:
    """``label_pattern`` says how a label is written."""
    instrument(label_pattern=r"§(\d+)§")
    with capture() as captured:
        citing(parts, "§{i}§ {text}", "[9] [2]").invoke({"input": "?"})
    assert captured.assessments[0].citations.resolved == 1
    assert [each.code.value for each in captured.assessments[0].findings] == ["citation_unresolved"]


def test_labels_that_are_not_read(parts: Any, seen: Any, caplog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an answer cites, and no label was read, one line says that its citations are not checked."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    for _ in range(2):
        citing(parts, "§{i}§ {text}", "[1]").invoke({"input": "n1"})
    citing(parts, "{text}", "").invoke({"input": "n1"})
    assert [record.getMessage()[:26] for record in caplog.records] == ["LangChain: an answer cites"]


def test_sources_by_the_key_of_the_stages(parts: Any, instrument: Any) -> None:
    """Sources of an answer have the IDs that the stages were told to read, not those that a store made up."""
    instrument(selected_by=lambda _: "one.md", id_keys=["source"])
    notes = [Document(f"Note {each} alone.", metadata={"source": f"{each}.md"}) for each in ("one", "two")]
    chain = citing(parts, "[{i}] {text}", "[1] [2]")
    parts_of_store = parts.store(notes).as_retriever()
    with capture() as captured:
        (RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | parts_of_store) | chain.last).invoke(
            {"input": "?"}
        )
    told = captured.assessments[0]
    assert (told.verdict, told.citations.resolved, told.findings) == (rop.Verdict.PASS, 2, ())


def test_settings_of_the_handoff(parts: Any, instrument: Any) -> None:
    """Scopes, records, judgments and expected stages are told by settings."""
    instrument(
        scope_key="tenant",
        record_key="record",
        judged_by=lambda _: {"n2": 2},
        expected=["retriever", "rerank", "packing"],
    )
    found = [
        Document(id=name, page_content=f"The text of {name} is here.", metadata={"tenant": tenant})
        for name, tenant in (("n1", "one"), ("n2", "two"))
    ]
    with capture() as captured:
        parts.lcel(parts.Given(results=found)).invoke("?", {"metadata": {"record": "r1", "tenant": "one"}})
    (record,), (told,) = captured.records, captured.assessments
    assert (record.record_id, record.scope_id, record.judged, record.grades) == ("r1", "one", ("n2",), (2,))
    findings = {each.code.value: each.ids for each in told.findings}
    assert findings == {"scope_leak": ("n2",), "stage_not_observed": ()}


def test_documents_in_another_form(parts: Any, instrument: Any) -> None:
    """Where the application says that prompts hold summaries of documents, what is packed is taken for shown."""
    instrument(selected_by=lambda _: "n1", shows="rewritten")
    with capture() as captured:
        parts.lcel(parts.vector(), lambda documents: "In short, nothing.").invoke("?")
    told = captured.assessments[0]
    assert (told.verdict, told.shown.basis, told.shown.ids) == (rop.Verdict.PASS, "assumed", ("n1", "n2", "n3"))


def test_an_answer_that_quotes_documents_is_no_prompt(parts: Any, seen: Any) -> None:
    """What a function of the application answers from documents may hold some words of one of them."""

    def answer(documents: Sequence[Document]) -> str:
        return f"As the notes say: {documents[0].page_content[:-2]}"

    (parts.vector() | answer).invoke("n2")
    assert seen.kinds == ["vector"]


def test_a_prompt_made_by_a_template_of_documents(parts: Any, seen: Any) -> None:
    """What a template says by itself is no sign of a document, and what it makes of them is."""
    template = PromptTemplate.from_template("Note 1 is about subject 1, say some.\n{context}")
    ({"context": parts.vector() | (lambda documents: parts.joined(documents[1:]))} | template | MODEL).invoke("n1")
    assert str(seen.assessment).endswith("FAIL, the selected object was lost at packing: packing left it out")
