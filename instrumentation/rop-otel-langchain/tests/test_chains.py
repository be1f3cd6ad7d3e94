"""The topmost call as a handoff: called at once, as a stream, in a batch, in threads, inside of another."""

from __future__ import annotations

import asyncio
import operator
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import tool
from opentelemetry.context import get_current

import rop_otel as rop
from rop_otel.testing import capture

ARMS = ["lexical", "vector", "fusion"]


def test_a_call_that_retrieves_nothing_is_no_handoff(parts: Any, seen: Any) -> None:
    """A prompt and a model, or a function, are called without any handoff."""
    (parts.prompt | FakeListChatModel(responses=["yes"])).invoke({"context": "a", "input": "n1"})
    RunnableLambda(operator.itemgetter(0)).invoke("n1")
    assert not seen.assessments


def test_a_retriever_by_itself_is_no_handoff(parts: Any, seen: Any) -> None:
    """It is not known what a reader is shown of it: there is a stage, and no verdict."""
    assert [document.id for document in parts.compressed().invoke("n1")] == ["n5", "n2", "n4"]
    assert not seen.assessments


def test_the_handoff_has_the_name_of_the_call(parts: Any, instrument: Any) -> None:
    """The name is the setting's, else the call's ``run_name``, else the chain's, else its class."""
    instrument()
    chain = parts.lcel(parts.vector())
    with capture() as captured:
        chain.invoke("n1")
        chain.with_config(run_name="docs").invoke("n1")
        chain.with_config(run_name="docs").invoke("n1", {"run_name": "here"})
        parts.qa().invoke({"input": "n1"})
    names = [assessment.handoff_name for assessment in captured.assessments]
    assert names == ["RunnableSequence", "docs", "here", "retrieval_chain"]


@pytest.mark.parametrize("how", ["inputs", "metadata", "bound"])
def test_the_selection_is_a_key_of_inputs_or_metadata(parts: Any, instrument: Any, how: str) -> None:
    """``selected_key`` is looked up in the metadata of the call or of the chain, else in its inputs."""
    instrument(selected_key="wanted")
    chain, config = parts.qa(), {"metadata": {"wanted": "n2"}}
    with capture() as captured:
        if how == "inputs":
            chain.invoke({"input": "?", "wanted": "n2"})
        elif how == "metadata":
            chain.invoke({"input": "?"}, config)
        else:
            chain.with_config(config).invoke({"input": "?"})
    assert (captured.assessments[0].verdict, captured.assessments[0].selected_rank) == (rop.Verdict.PASS, 2)


def test_an_open_handoff_is_used(parts: Any, seen: Any) -> None:
    """Inside a handoff of the application's own, the calls are a part of it, and it answers for itself."""
    with rop.handoff("mine") as handoff:
        parts.qa(answer="See [S1].", source="[S1] {page_content}").invoke({"input": "n2"})
        assert rop.current_handoff() is handoff
    assert (seen.assessment.handoff_name, seen.assessment.verdict) == ("mine", rop.Verdict.PASS)
    assert "reader" not in seen.kinds


def test_chains_inside_of_a_chain_are_a_part_of_it(parts: Any, seen: Any) -> None:
    """Only the topmost call is a handoff, also where a function calls another chain."""
    inner = parts.vector() | RunnableLambda(parts.joined)
    chain = RunnablePassthrough.assign(context=lambda inputs: inner.invoke(inputs["input"])) | parts.prompt
    chain.invoke({"input": "n2"})
    assert seen.kinds == ["vector", "packing"]
    assert seen.assessment.verdict is rop.Verdict.PASS


def test_retrieval_that_only_a_function_refers_to(parts: Any, seen: Any) -> None:
    """What functions refer to is looked through, tools of an agent included."""
    retriever = parts.vector()

    @tool
    def look_up(question: str) -> str:
        """Look a question up."""
        return str(parts.joined(retriever.invoke(question)))

    RunnableLambda(lambda question: look_up.invoke(question)).invoke("n2")
    assert seen.kinds == ["vector"]


def test_the_context_is_as_before(parts: Any, seen: Any) -> None:
    """After the call, and between the pieces of a stream, nothing of it is current."""
    before = get_current()
    chain = parts.qa()
    chain.invoke({"input": "n2"})
    assert get_current() is before
    pieces = chain.stream({"input": "n2"})
    next(pieces)
    assert get_current() == before
    assert not rop.current_handoff().id
    assert len(seen.assessments) == 1
    assert [*pieces]
    assert len(seen.assessments) == 2


def test_a_stream_that_is_left_early_ends_its_handoff(parts: Any, seen: Any) -> None:
    """The consumer may close a stream, of which the handoff then ends without an error."""
    within: list[str] = []

    def slowly(chunks: Iterator[Any]) -> Iterator[Any]:
        try:
            for chunk in chunks:
                yield chunk
                yield chunk
        finally:
            within.append(rop.current_handoff().name)

    pieces = (parts.qa() | slowly).stream({"input": "n2"})
    for _ in pieces:
        break
    pieces.close()
    assert len(seen.assessments) == 1
    if sys.version_info < (3, 12):  # newer ones end the function's generator after the stream, outside of the handoff
        assert within == ["RunnableSequence"]

    async def first() -> None:
        pieces = parts.qa().astream({"input": "n2"})
        await anext(pieces)
        await pieces.aclose()

    asyncio.run(first())
    assert len(seen.assessments) == 2


def test_a_stream_whose_pieces_are_asked_for_in_threads(parts: Any, seen: Any) -> None:
    """Web frameworks ask for each piece in another thread."""
    pieces = parts.qa().stream({"input": "n2"})
    made = True
    while made:
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(next, pieces, None).result() is not None
    assert seen.kinds == [*ARMS, "rerank", "packing", "reader"]
    assert seen.assessment.verdict is rop.Verdict.PASS


async def test_streams_that_run_at_the_same_time(parts: Any, seen: Any) -> None:
    """Each has its own handoff, whichever is asked for a piece."""
    chain = parts.qa()
    one, two = chain.astream({"input": "n2"}), chain.astream({"input": "n3"})
    open_ones = {one, two}
    while open_ones:
        for pieces in (one, two):
            if pieces in open_ones and await anext(pieces, None) is None:
                open_ones.discard(pieces)
    assert sorted(assessment.verdict for assessment in seen.assessments) == ["FAIL", "PASS"]
    assert {len(record.stages) for record in seen.captured.records} == {6}


def check_batch(seen: Any, questions: list[str]) -> None:
    """Each question of a batch has its own handoff with all the stages, and its own verdict."""
    by_selection = {record.selected: assessment for record, assessment in seen_pairs(seen)}
    assert len(seen.assessments) == len(questions)
    assert by_selection.keys() == {(question,) for question in questions}
    for question in questions:
        stages = [stage.stage for stage in by_selection[question,].stages]
        # Arms that are awaited run in threads, and end in any order.
        assert [*sorted(stages[:2]), *stages[2:]] == [*ARMS, "rerank", "packing"]
        expected = rop.Verdict.PASS if question in ("n2", "n4", "n5") else rop.Verdict.FAIL
        assert by_selection[question,].verdict is expected


def seen_pairs(seen: Any) -> list[tuple[Any, Any]]:
    """Return records with their assessments."""
    return [*zip(seen.captured.records, seen.captured.assessments, strict=True)]


QUESTIONS = ["n1", "n2", "n3", "n4", "n5"]


@pytest.mark.parametrize("way", ["batch", "abatch", "batch_as_completed", "abatch_as_completed"])
@pytest.mark.parametrize("shape", ["qa", "lcel"])
def test_a_batch_is_a_handoff_for_each_question(parts: Any, seen: Any, way: str, shape: str) -> None:
    """LangChain runs a batch step by step, each for all questions, and their stages are kept apart all the same."""
    chain = parts.qa() if shape == "qa" else parts.lcel(parts.compressed())
    inputs = [{"input": question} for question in QUESTIONS] if shape == "qa" else QUESTIONS

    async def completed() -> None:
        async for _ in chain.abatch_as_completed(inputs):
            pass

    if way == "batch":
        results = chain.batch(inputs)
        assert len(results) == len(QUESTIONS)
    elif way == "abatch":
        asyncio.run(chain.abatch(inputs))
    elif way == "batch_as_completed":
        assert len([*chain.batch_as_completed(inputs)]) == len(QUESTIONS)
    else:
        asyncio.run(completed())
    check_batch(seen, QUESTIONS)
    assert not rop.current_handoff().id


def test_a_batch_of_which_one_fails(parts: Any, seen: Any) -> None:
    """A question that raises ends its handoff, and the others are as they would be."""

    def check(question: str) -> str:
        if question == "n9":
            raise LookupError(question)
        return question

    chain = RunnableLambda(check) | parts.compressed() | RunnableLambda(parts.joined)
    results = chain.batch(["n2", "n9", "n4"], return_exceptions=True)
    assert [type(result) for result in results] == [str, LookupError, str]
    assert len(seen.assessments) == 3
    with pytest.raises(LookupError):
        chain.batch(["n2", "n9"])
    assert len(seen.assessments) == 5
    assert not rop.current_handoff().id


def test_parallel_retrievers_run_in_threads_of_one_handoff(parts: Any, seen: Any) -> None:
    """LangChain runs the branches of a parallel step in threads, which belong to the same handoff."""
    lexical, vector = parts.BM25Retriever(results=parts.notes[2:4]), parts.vector(2)

    def join(found: dict[str, Any]) -> list[Any]:
        return [*found["lexical"], *found["vector"]]

    parts.lcel(RunnableParallel(lexical=lexical, vector=vector) | join).invoke("n2")
    assert sorted(seen.kinds[:2]) == ["lexical", "vector"]
    assert seen.lists[2:] == [("join", ["n3", "n4", "n1", "n2"]), ("packing", ["n3", "n4", "n1", "n2"])]
    assert not seen.assessment.findings


def test_calls_in_threads_do_not_mix(parts: Any, seen: Any) -> None:
    """Calls at the same time have a handoff each."""
    chain = parts.qa()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(chain.invoke, [{"input": question} for question in QUESTIONS]))
    check_batch(seen, QUESTIONS)


async def test_tasks_do_not_mix(parts: Any, seen: Any) -> None:
    """Tasks at the same time have a handoff each."""
    chain = parts.qa()
    await asyncio.gather(*(chain.ainvoke({"input": question}) for question in QUESTIONS))
    check_batch(seen, QUESTIONS)


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke"])
def test_the_answer_is_the_readers(parts: Any, seen: Any, way: str) -> None:
    """A chain that returns an answer with its documents has a reader, whose citations are checked."""

    def numbered(documents: list[Document]) -> list[Document]:
        return [
            document.model_copy(update={"metadata": {"label": f"S{place}"}})
            for place, document in enumerate(documents, 1)
        ]

    chain = parts.qa(
        (lambda inputs: inputs["input"]) | parts.compressed() | numbered,
        answer="First [S1], then [S9].",
        source="[{label}] {page_content}",
    )
    if way == "ainvoke":
        asyncio.run(chain.ainvoke({"input": "n2"}))
    else:
        list(getattr(chain, way)({"input": "n2"}))
    packing, reader = seen.stages[-2:]
    assert (packing.labels, reader.labels) == (("S1", "S2", "S3"),) * 2
    assert (reader.kind, reader.citations) == ("reader", ("S1", "S9"))
    assert [finding.code.value for finding in seen.assessment.findings] == ["citation_unresolved"]


def test_without_known_labels_nothing_is_a_citation(parts: Any, seen: Any) -> None:
    """Where the prompt shows no labels, brackets in the answer are not taken for citations."""
    parts.qa(answer="See [S1].").invoke({"input": "n2"})
    assert (seen.stages[-1].kind, seen.stages[-1].citations) == ("reader", ())
    assert not seen.assessment.findings


def test_an_answer_that_is_a_message(parts: Any, seen: Any) -> None:
    """The answer may be a message of a model."""
    retrieved = RunnablePassthrough.assign(context=(lambda inputs: inputs["input"]) | parts.vector())
    chain = retrieved | RunnablePassthrough.assign(answer=lambda _: AIMessage("It is so."))
    chain.invoke({"input": "n2"})
    assert seen.kinds == ["vector", "reader"]
