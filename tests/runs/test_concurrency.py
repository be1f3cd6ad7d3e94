"""Runs whose handoffs overlap, in threads, tasks and processes."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import rop_otel as rop
from rop_otel.tracing.running.open_runs import RUNS
from tests.runs.audit import answer, evaluated, sealed

POPULATION = tuple(f"r{number:03}" for number in range(200))


def test_threads(tmp_path: Path) -> None:
    """Handoffs that end at the same time in many threads are all counted and written, each line whole."""
    declaration, journal = sealed(tmp_path, population=POPULATION), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run, ThreadPoolExecutor(8) as pool:
        work = rop.carry_context(lambda name: answer(name, "obj-a", ["a#0"]))
        half = len(POPULATION) // 2
        results = list(pool.map(work, POPULATION[:half]))
        results += pool.map(lambda name: answer(name, "obj-a", ["a#0"], run_id="nightly"), POPULATION[half:])
    assert {result.verdict for result in results} == {"PASS"}
    assert (run.close().status, run.standing().records["FINISHED"]) == ("RUN_PASS", len(POPULATION))
    assert run.close().to_bytes() == evaluated(declaration, journal)


def test_a_thread_without_context_needs_the_id() -> None:
    """A plain thread has no context, so its handoffs are missing rather than guessed to belong somewhere."""
    with rop.run("nightly", expected=["a"]) as run:
        thread = threading.Thread(target=answer, args=("a", "x", ["x"]))
        thread.start()
        thread.join()
    assert run.close().run.accounts.missing == ("a",)


def test_numbers_are_read_while_handoffs_end() -> None:
    """Scrapes, and a close in the middle, disturb nothing: what ends after the run is late."""
    run = rop.run("nightly", expected=POPULATION)
    count = 300

    def work() -> None:
        for name in POPULATION[:count]:
            answer(name, "x", ["x"], run_id="nightly")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while run.standing().records["FINISHED"] < 100:
        RUNS.standings()
    report = run.close()
    for thread in threads:
        thread.join()
    assert report.run.accounts.counts.observed == run.standing().records["FINISHED"]
    assert report.run.accounts.counts.observed >= 100
    assert run.close() is report


def test_tasks(tmp_path: Path) -> None:
    """Tasks of one loop each find the run that they were started in."""

    async def one(name: str) -> None:
        async with rop.handoff("qa", record_id=name, selected="x"):
            with rop.using_stage("vector") as stage:
                await asyncio.sleep(0.001)
                stage.returned(["x"])

    async def whole(run_id: str, names: list[str]) -> str:
        async with rop.run(run_id, expected=names) as run:
            await asyncio.gather(*map(one, names))
        return str(run.close().status)

    async def both() -> list[str]:
        return list(await asyncio.gather(whole("one", ["a", "b", "c"]), whole("two", ["a", "d"])))

    assert asyncio.run(both()) == ["RUN_PASS", "RUN_PASS"]


def test_a_cancelled_request_is_observed_as_what_it_was() -> None:
    """A handoff that is cancelled ends there, without what it did not get to."""

    async def slow() -> None:
        with rop.handoff("qa", record_id="a", selected="x"):
            await asyncio.sleep(60)

    async def cancelled() -> None:
        task = asyncio.ensure_future(slow())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with rop.run("nightly", expected=["a"]) as run:
        asyncio.run(cancelled())
    assert run.close().run.verdicts["UNVERIFIABLE"] == 1


def hold(lock: AbstractContextManager[bool], held: threading.Event, done: threading.Event) -> None:
    with lock:
        held.set()
        done.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_leaves_the_run_alone(tmp_path: Path) -> None:
    """The run belongs to the process that opened it: a child writes nothing, waits for no lock and keeps no claim."""
    journal = tmp_path / "journal.jsonl"
    run = rop.run("nightly", expected=["a", "b"], journal=journal)
    with run:
        answer("a", "x", ["x"])
        held, done = threading.Event(), threading.Event()
        thread = threading.Thread(target=hold, args=(run._turns.lock, held, done))
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            outcome = answer("b", "x", ["x"])
            os._exit(0 if outcome.run_id is None and "forked" in run.close().incomplete[0] else 1)
        done.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run.close().run.accounts.missing == ("b",)
    assert journal.read_bytes().count(b"\n") == 1
