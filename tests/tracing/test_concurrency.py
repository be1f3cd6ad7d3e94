from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import rop_otel as rop
from tests.tracing.watched import Watched


@rop.stage("vector")
def vector(question: str) -> list[str]:
    return [f"{question}-vector"]


@rop.stage("lexical")
def lexical(question: str) -> list[str]:
    return [f"{question}-lexical"]


@rop.stage("lexical")
async def lexical_async(question: str) -> list[str]:
    await asyncio.sleep(0)
    return [f"{question}-lexical"]


@rop.stage("vector")
async def vector_async(question: str) -> list[str]:
    await asyncio.sleep(0)
    return [f"{question}-vector"]


def ask_one(search: Callable[[str], list[str]]) -> list[str]:
    return search("q")


def in_pool() -> None:
    with ThreadPoolExecutor(2) as pool:
        for found in [pool.submit(rop.carry_context(search), "q") for search in (vector, lexical)]:
            found.result()


def in_mapped_pool() -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(rop.carry_context(ask_one), [vector, lexical]))


def in_threads() -> None:
    threads = [threading.Thread(target=rop.carry_context(search), args=("q",)) for search in (vector, lexical)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("fan_out", [in_pool, in_mapped_pool, in_threads])
def test_threads_find_their_handoff(fan_out: Callable[[], None], watched: Watched) -> None:
    """Arms that run in threads are stages of the one handoff, and no thread keeps its context."""
    with rop.handoff("qa") as handoff:
        fan_out()
    assert sorted(stage.kind for stage in watched.stages()) == ["lexical", "vector"]
    assert {span.context.trace_id for span in watched.spans if span.context} == {int(handoff.trace_id, 16)}


@pytest.mark.parametrize("how", ["gather", "run_in_executor", "to_thread"])
async def test_tasks_and_executors_find_their_handoff(how: str, watched: Watched) -> None:
    """The same for asyncio's ways to do two things at a time."""
    async with rop.handoff("qa"):
        if how == "gather":
            await asyncio.gather(vector_async("q"), lexical_async("q"))
        elif how == "to_thread":
            await asyncio.gather(asyncio.to_thread(vector, "q"), asyncio.to_thread(lexical, "q"))
        else:
            loop = asyncio.get_running_loop()
            arms = [loop.run_in_executor(None, rop.carry_context(search), "q") for search in (vector, lexical)]
            await asyncio.gather(*arms)
    assert sorted(stage.kind for stage in watched.stages()) == ["lexical", "vector"]
    assert {stage.parent_id for stage in watched.stages()} == {None}


async def test_overlapping_handoffs_of_tasks_never_mix(watched: Watched) -> None:
    """Many questions at the same time in one loop: each handoff holds its own documents."""

    async def ask(question: str) -> None:
        async with rop.handoff("qa", record_id=question):
            await asyncio.gather(vector_async(question), lexical_async(question))

    await asyncio.gather(*(ask(f"q{number}") for number in range(20)))
    assert_own_documents(watched, 20)


def test_overlapping_handoffs_of_threads_never_mix(watched: Watched) -> None:
    """The same with a thread for each question, and a pool that all of them share."""
    with ThreadPoolExecutor(4) as arms, ThreadPoolExecutor(4) as askers:

        def ask(question: str) -> None:
            with rop.handoff("qa", record_id=question):
                for found in [arms.submit(rop.carry_context(search), question) for search in (vector, lexical)]:
                    found.result()

        list(askers.map(ask, [f"q{number}" for number in range(20)]))
    assert_own_documents(watched, 20)


def assert_own_documents(watched: Watched, count: int) -> None:
    assert len(watched.heard.records) == count
    for record in watched.heard.records:
        returned = sorted(stage.returned or () for stage in record.stages)
        assert returned == [(f"{record.record_id}-lexical",), (f"{record.record_id}-vector",)]


async def test_one_handoff_may_be_entered_by_several_tasks(watched: Watched) -> None:
    """Blocks of one started handoff overlap in any order, and each task leaves as it came."""
    handoff = rop.start_handoff("qa")
    entered, left = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        with handoff:
            await entered.wait()
            vector("q")
        left.set()
        assert rop.current_handoff() is not handoff

    async def second() -> None:
        with handoff:
            entered.set()
            await left.wait()
            lexical("q")
        assert rop.current_handoff() is not handoff

    await asyncio.gather(first(), second())
    handoff.close()
    assert sorted(stage.kind for stage in watched.stages()) == ["lexical", "vector"]


def test_one_carried_function_may_run_many_times_at_once(watched: Watched) -> None:
    """Overlapping calls of one carried function each have the context, and an exception passes."""
    barrier = threading.Barrier(2)

    def meet(search: Callable[[str], list[str]]) -> list[str]:
        barrier.wait(60)
        return search("q")

    with rop.handoff("qa"), ThreadPoolExecutor(2) as pool:
        list(pool.map(rop.carry_context(meet), [vector, lexical]))
        with pytest.raises(ZeroDivisionError):
            rop.carry_context(lambda: 1 / 0)()
    assert len(watched.stages()) == 2


def test_thread_without_the_context_is_no_part_of_the_handoff(watched: Watched) -> None:
    """Without carrying, a thread is outside; its stage is a span of its own trace, and nothing is mixed up."""
    with rop.handoff("qa"), ThreadPoolExecutor(1) as pool:
        pool.submit(vector, "q").result()
    assert watched.stages() == []


def test_thread_is_outside_again_after_a_carried_call(watched: Watched) -> None:
    """A worker that ran a carried function does not stay in its handoff."""
    with rop.handoff("qa"), ThreadPoolExecutor(1) as pool:
        pool.submit(rop.carry_context(vector), "q").result()
        pool.submit(lexical, "q").result()
    assert [stage.kind for stage in watched.stages()] == ["vector"]


async def test_task_that_outlives_its_handoff_is_late(watched: Watched) -> None:
    """A task that goes on after the handoff is late, and does not leak into the next handoff."""
    go = asyncio.Event()

    @rop.stage("rerank")
    async def slow() -> list[str]:
        await go.wait()
        return ["a"]

    async with rop.handoff("first"):
        task = asyncio.create_task(slow())
        await asyncio.sleep(0)
    async with rop.handoff("second"):
        go.set()
        await task
    assert [finding.code for finding in watched.heard.assessments[0].findings] == ["stage_late"]
    assert watched.stages(1) == []


async def test_cancelled_stage_is_an_error_and_the_handoff_is_assessed(watched: Watched) -> None:
    """A cancelled task leaves an ended span, a failed stage and an assessed handoff."""

    @rop.stage("vector")
    async def forever() -> list[str]:
        await asyncio.Event().wait()
        return []

    async def ask() -> None:
        async with rop.handoff("qa"):
            await forever()

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watched.names == ["vector", "handoff qa"]
    assert watched.stage("vector").failed
    assert len(watched.heard.assessments) == 1
