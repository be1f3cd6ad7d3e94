from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import StatusCode

import rop_otel as rop
from tests.tracing.watched import Hit, Watched, hits


@rop.stage("vector")
def search(*ids: str) -> Iterator[Hit]:
    yield from hits(*ids)


@rop.stage("vector")
async def search_async(*ids: str) -> AsyncIterator[Hit]:
    for hit in hits(*ids):
        await asyncio.sleep(0)
        yield hit


async def step(found: AsyncIterator[Hit]) -> Hit:
    return await anext(found)


@pytest.fixture(autouse=True)
def _nothing_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is logged about a context that could not be detached, nor about anything else."""
    with caplog.at_level(logging.WARNING):
        yield
    assert caplog.messages == []


def test_consumer_stays_outside_of_the_stage(watched: Watched) -> None:
    """A span that the consumer makes between two documents is a child of the handoff, not of the stage."""
    tracer = watched.provider.get_tracer("application")
    with rop.handoff("qa"):
        for _ in search("a", "b"):
            with tracer.start_as_current_span("consumer"):
                pass
    handoff = watched.spans[-1]
    assert handoff.context is not None
    parents = {span.parent.span_id for span in watched.spans if span.name == "consumer" and span.parent}
    assert parents == {handoff.context.span_id}


def test_spans_of_the_generator_are_inside_the_stage(watched: Watched) -> None:
    """What the generator does between two documents is below the stage, also in a block that it opened before."""
    tracer = watched.provider.get_tracer("application")

    @rop.stage("retrieval", source=True)
    def retrieve() -> Iterator[Hit]:
        with tracer.start_as_current_span("outer"):
            yield Hit("a")
            with tracer.start_as_current_span("inner"):
                yield Hit("b")

    with rop.handoff("qa"):
        list(retrieve())
    inner, outer, stage, _ = watched.spans
    assert outer.context is not None
    assert stage.context is not None
    assert inner.parent is not None
    assert outer.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    assert outer.parent.span_id == stage.context.span_id


def test_consumer_that_stops_early_ends_the_stage_once(watched: Watched) -> None:
    """A stage whose consumer breaks has returned what was yielded by then."""
    with rop.handoff("qa"):
        for hit in search("a", "b", "c"):
            if hit.chunk_id == "b":
                break
        gc.collect()
    assert watched.names == ["vector", "handoff qa"]
    assert watched.stage("vector").returned == ("a", "b")
    assert watched.spans[0].status.status_code is StatusCode.UNSET


async def test_async_consumer_that_stops_early_ends_the_stage_once(watched: Watched) -> None:
    """The same for an asynchronous generator that is closed."""
    async with rop.handoff("qa"):
        before = trace.get_current_span()
        found = search_async("a", "b", "c")
        async for _ in found:
            break
        await found.aclose()  # type: ignore[attr-defined] # an asynchronous generator is what it is
        assert trace.get_current_span() is before
    assert watched.names == ["vector", "handoff qa"]
    assert watched.stage("vector").returned == ("a",)


async def test_async_generator_left_to_the_collector_ends_in_another_task(watched: Watched) -> None:
    """A generator that nobody closes ends with its collection, which asyncio runs as another task."""

    async def consume() -> None:
        async for _ in search_async("a", "b", "c"):
            break

    async with rop.handoff("qa"):
        await consume()
        gc.collect()
        for _ in range(5):
            await asyncio.sleep(0)
    assert watched.names == ["vector", "handoff qa"]
    assert watched.stage("vector").returned == ("a",)


async def test_steps_may_be_driven_from_several_tasks(watched: Watched) -> None:
    """Each step runs in the context of the stage, whichever task drives it."""
    async with rop.handoff("qa"):
        found = search_async("a", "b")
        first = await asyncio.create_task(step(found))
        second = await asyncio.create_task(step(found))
        with pytest.raises(StopAsyncIteration):
            await anext(found)
    assert [first, second] == hits("a", "b")
    assert watched.stage("vector").returned == ("a", "b")


def test_generator_may_be_closed_in_another_thread(watched: Watched) -> None:
    """Closing in a thread without the context ends the stage, and leaves that thread's context alone."""
    with rop.handoff("qa"):
        found: Any = search("a", "b")
        next(found)
        thread = threading.Thread(target=found.close)
        thread.start()
        thread.join()
    assert watched.stage("vector").returned == ("a",)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_generator_that_raises(kind: str, watched: Watched) -> None:
    """The exception reaches the consumer unchanged, and the span has status ERROR."""
    error = ValueError("broken index")

    @rop.stage("vector")
    def fail() -> Iterator[Hit]:
        yield Hit("a")
        raise error

    @rop.stage("vector")
    async def fail_async() -> AsyncIterator[Hit]:
        yield Hit("a")
        raise error

    async def consume() -> None:
        with rop.handoff("qa"):
            if kind == "sync":
                list(fail())
            async for _ in fail_async():
                pass

    with pytest.raises(ValueError, match="broken index") as caught:
        await consume()
    assert caught.value is error
    assert watched.spans[0].status.status_code is StatusCode.ERROR
    assert watched.stage("vector").failed
    assert watched.stage("vector").returned == ("a",)


def test_all_that_a_consumer_can_do_reaches_the_generator(watched: Watched) -> None:
    """``send``, ``throw`` and the value of ``return`` work as they do without the decorator."""

    @rop.stage("vector")
    def echo() -> Generator[str, str, str]:
        sent = yield "a"
        try:
            yield sent
        except KeyError:
            yield "caught"
        return "done"

    with rop.handoff("qa"):
        generator = echo()
        assert next(generator) == "a"
        assert generator.send("b") == "b"
        assert generator.throw(KeyError()) == "caught"
        with pytest.raises(StopIteration) as stop:
            next(generator)
    assert stop.value.value == "done"
    assert watched.stage("vector").returned == ("a", "b", "caught")


@pytest.mark.parametrize("enabled", [True, False])
async def test_all_that_a_consumer_can_do_reaches_the_async_generator(enabled: bool, watch: Any) -> None:
    """``asend``, ``athrow`` and ``aclose`` work as they do without the decorator, also when monitoring is off."""
    watch(enabled=enabled)
    closed = []

    @rop.stage("vector")
    async def echo() -> Any:
        try:
            sent = yield "a"
            try:
                yield sent
            except KeyError:
                yield "caught"
        finally:
            closed.append(True)

    with rop.handoff("qa"):
        generator = echo()
        assert await anext(generator) == "a"
        assert await generator.asend("b") == "b"
        assert await generator.athrow(KeyError()) == "caught"
        await generator.aclose()
    assert closed == [True]


def test_generator_never_started_is_no_stage(watched: Watched) -> None:
    """A generator function that is called and never iterated has done nothing."""
    with rop.handoff("qa"):
        search("a")
    assert watched.names == ["handoff qa"]


def test_documents_are_not_held(watched: Watched) -> None:
    """Of what a generator yields only IDs and scores are kept."""

    @rop.stage("vector")
    def fresh() -> Iterator[Hit]:
        yield from (Hit(f"d{place}") for place in range(3))

    with rop.handoff("qa"):
        found = fresh()
        held = weakref.ref(next(found))
        next(found)
        gc.collect()
        assert held() is None
        list(found)
    assert watched.stage("vector").returned == ("d0", "d1", "d2")


def test_what_is_yielded_beyond_the_limit_is_counted(watch: Any) -> None:
    """The list is cut to the limit, and its true length is kept."""
    watched = watch(max_ids=2)
    with rop.handoff("qa"):
        list(search("a", "b", "c"))
    stage = watched.stage("vector")
    assert (stage.returned, stage.returned_count, stage.scores) == (("a", "b"), 3, (1.0, 0.9))


def test_documents_without_ids_are_said_so(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """A generator of documents whose ID cannot be read is counted and logged once, and its consumer gets them all."""

    @rop.stage("vector")
    def unreadable() -> Iterator[object]:
        yield from (object(), object())

    for _ in range(2):
        with rop.handoff("qa"):
            assert len(list(unreadable())) == 2
    assert watched.stage("vector").returned is None
    assert watched.errors("ids") == 2
    assert len(caplog.messages) == 1
    caplog.clear()


def test_nothing_yielded_is_an_empty_list(watched: Watched) -> None:
    """A generator without documents returned an empty list, which is not an unreadable one."""
    with rop.handoff("qa"):
        list(search())
    assert watched.stage("vector").returned == ()


async def test_a_generator_that_is_over_has_not_failed(watched: Watched) -> None:
    """Coming to its end is how a generator of either kind succeeds."""
    with rop.handoff("qa"):
        assert list(search("a")) == hits("a")
        assert [hit async for hit in search_async("b")] == hits("b")
    assert [(stage.returned, stage.failed) for stage in watched.stages()] == [(("a",), False), (("b",), False)]
    assert {span.status.status_code for span in watched.spans} == {StatusCode.UNSET}
