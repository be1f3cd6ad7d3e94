"""Answers that stream on after the call: the handoff ends with the stream, however that ends."""

from __future__ import annotations

import gc
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.query_engine import CitationQueryEngine
from llama_index_parts import BM25Retriever, Found, Model, Watch, engine, memory
from opentelemetry.context import get_current
from rop_otel_llama_index.synthesis import Synthesis

import rop_otel as rop


def streaming(*ids: str, **arguments: Any) -> Any:
    """Return an engine whose answers stream."""
    return engine(BM25Retriever(*ids), llm=Model(**arguments), streaming=True)


def test_the_handoff_ends_with_the_stream(watch: Watch) -> None:
    """After the call the handoff is open, and not current; at the end of the stream it is assessed."""
    watch(selected_by=lambda question: "n1")
    before = get_current()
    response = streaming("n1", "n2", answer="So it is [1].").query("?")
    assert get_current() == before
    tokens = iter(response.response_gen)
    assert (next(tokens), get_current()) == ("So ", before)
    assert watch.assessments == []
    assert "".join(tokens) == "it is [1]. "
    assert (watch.only.verdict, watch.kinds()) == ("PASS", ["lexical", "packing"])
    assert watch.reader.returned == ("n1", "n2")
    assert get_current() == before


def test_what_a_lazy_model_was_asked_counts(watch: Watch) -> None:
    """Where the model is asked only when the stream is read, its prompt is seen all the same."""
    watch(selected_by=lambda question: "n1")
    built = engine(BM25Retriever("n1"), llm=Model(), streaming=True, text_qa_template=PromptTemplate("{query_str}"))
    str(built.query("?"))
    assert (watch.only.verdict, watch.stages[-1].basis) == ("UNVERIFIABLE", "unseen")


def test_citations_of_a_stream(watch: Watch) -> None:
    """Labels that the streamed text cites are found in the whole of it."""
    watch(selected_by=lambda question: "n2")
    nowhere: Any = None
    made = CitationQueryEngine.from_args(
        nowhere, retriever=BM25Retriever("n1", "n2"), llm=Model(answer="So it is [2]."), streaming=True
    )
    assert str(made.query("?")).strip() == "So it is [2]."
    assert (watch.only.verdict, watch.reader.citations) == ("PASS", ("2",))


@pytest.mark.parametrize("started", [False, True])
def test_a_stream_that_is_given_up(watch: Watch, started: bool) -> None:
    """A stream that nobody reads to its end ends the handoff with the next use of the monitor, when nobody has it."""
    watch(selected_by=lambda question: "n1")
    response = streaming("n1").query("?")
    if started:
        next(iter(response.response_gen))
    del response
    gc.collect()
    rop.current_handoff()
    # Where the model is asked only when the stream is read, nobody was shown anything.
    assert watch.only.verdict in (["PASS"] if started else ["PASS", "UNVERIFIABLE"])


def test_a_stream_that_is_closed(watch: Watch) -> None:
    """Closing the stream ends the handoff, once."""
    watch(selected_by=lambda question: "n1")
    response = streaming("n1").query("?")
    assert isinstance(response.response_gen, Generator)
    next(response.response_gen)
    response.response_gen.close()
    response.response_gen.close()
    assert watch.only.verdict == "PASS"
    assert list(response.response_gen) == []


def test_a_stream_that_raises(watch: Watch) -> None:
    """The exception is the application's own; what the model was shown is known, and no answer is."""
    watch(selected_by=lambda question: "n1")
    response = streaming("n1", broken=True).query("?")
    with pytest.raises(ConnectionError, match="no model"):
        list(response.response_gen)
    assert watch.only.verdict == "PASS"
    assert [stage.kind for stage in watch.records[0].stages] == ["lexical", "packing"]


def test_our_own_failure_at_the_end_of_a_stream(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong in this package at the end of a stream is kept from whoever reads it."""
    watch(selected_by=lambda question: "n1")
    response = streaming("n1").query("?")
    monkeypatch.setattr(Synthesis, "_pack", lambda *arguments: 1 / 0)
    assert "".join(response.response_gen).strip() == "See [1]."
    assert watch.only.verdict == "PASS"


def test_a_stream_that_another_thread_reads(watch: Watch) -> None:
    """The stream may be read anywhere."""
    watch(selected_by=lambda question: "n1")
    response = streaming("n1").query("?")
    reading = threading.Thread(target=lambda: str(response))
    reading.start()
    reading.join()
    assert watch.only.verdict == "PASS"


async def test_a_stream_that_is_awaited(watch: Watch) -> None:
    """The same for a stream that is awaited."""
    watch(selected_by=lambda question: "n1")
    before = get_current()
    response = await streaming("n1", answer="So it is.").aquery("?")
    assert isinstance(response.response_gen, AsyncGenerator)
    tokens = [token async for token in response.async_response_gen()]
    assert ("".join(tokens).strip(), watch.only.verdict) == ("So it is.", "PASS")
    assert get_current() == before


async def test_an_awaited_stream_that_is_closed(watch: Watch) -> None:
    """Closing it ends the handoff."""
    watch(selected_by=lambda question: "n1")
    response = await streaming("n1").aquery("?")
    await anext(response.response_gen)
    await response.response_gen.aclose()
    assert watch.only.verdict == "PASS"


def test_in_a_handoff_of_the_applications_own(watch: Watch) -> None:
    """It ends where the application says; an answer that streams on after it was made of nobody knows what."""
    watch()
    with rop.handoff("mine", selected="n1"):
        response = streaming("n1").query("?")
        assert rop.current_handoff().running_stage.trace_id == ""
    assert (watch.only.verdict, [finding.code for finding in watch.only.findings]) == ("UNVERIFIABLE", ["stage_late"])
    assert str(response).strip() == "See [1]."
    assert len(watch.assessments) == 1
    with rop.handoff("mine", selected="n1"):
        assert str(streaming("n1", answer="So [1].").query("?"))
    assert [stage.kind for stage in watch.records[1].stages] == ["lexical", "packing", "reader"]
    assert watch.assessments[1].verdict == "PASS"


def test_a_chat_that_streams(watch: Watch) -> None:
    """A turn of a chat ends when its answer is complete, whoever reads it."""
    watch(selected_by=lambda message: "n1")
    chat = ContextChatEngine.from_defaults(BM25Retriever("n1"), llm=Model(answer="So it is."), memory=memory())
    assert "".join(chat.stream_chat("which one?").response_gen).strip() == "So it is."
    assert (watch.only.handoff_name, watch.only.verdict) == ("ContextChatEngine", "PASS")
    assert watch.kinds() == ["lexical", "packing"]


async def test_a_chat_that_streams_awaited(watch: Watch) -> None:
    """The same for a chat that is awaited."""
    watch(selected_by=lambda message: "n1")
    chat = ContextChatEngine.from_defaults(BM25Retriever("n1"), llm=Model(answer="So it is."), memory=memory())
    answer = await chat.astream_chat("which one?")
    assert "".join([token async for token in answer.async_response_gen()]).strip() == "So it is."
    assert (watch.only.handoff_name, watch.only.verdict) == ("ContextChatEngine", "PASS")


def test_an_empty_stream(watch: Watch) -> None:
    """Nothing found is an answer that streams, too."""
    watch(selected_by=lambda question: "n1")
    str(engine(Found(found=[]), streaming=True).query("?"))
    assert watch.only.drop_cause == "never_retrieved"
