"""Time limits that a signal handler raises reach the task that they end, wherever in it they come up."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.context import Context, attach, get_current
from opentelemetry.sdk.trace import TracerProvider

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment
from rop_otel.core.profile.resolver import Resolver
from rop_otel.tracing.running import runtime
from tests.safety.alarms import alarms, collecting_alone
from tests.safety.handlers import JobTimeoutError

ROUNDS = 250
LONGEST = 0.002


class Document:
    """A document."""

    def __init__(self, number: int) -> None:
        self.metadata = {"doc_id": f"d{number}", "score": 1.0 / (number + 1)}


class Detached:
    """A document that cannot be read any more."""

    @property
    def id(self) -> str:
        raise AttributeError("id")

    def __getattr__(self, name: str) -> str:
        raise RuntimeError(name)


DOCUMENTS = [Document(number) for number in range(20)]
DETACHED = [Detached() for _ in range(10)]


@rop.stage("vector")
def search(question: str) -> list[Document]:
    return DOCUMENTS


@rop.stage("rerank", input_arg="hits")
def rerank(question: str, hits: list[Document]) -> list[Document]:
    return hits[:10]


@rop.stage("lexical", source=True)
def one_by_one(question: str) -> Iterator[Document]:
    yield from DOCUMENTS[:5]


@rop.stage("detached", source=True)
def detached() -> list[Detached]:
    return DETACHED


@rop.stage("vector")
async def searched(question: str) -> list[Document]:
    await asyncio.sleep(0)
    return DOCUMENTS


@rop.stage("lexical", source=True)
async def each(question: str) -> Any:
    for document in DOCUMENTS[:5]:
        yield document


def stages() -> None:
    rerank("?", search("?"))


def handoff() -> None:
    with rop.handoff("qa", selected="d1", judged=["d1", "d2"]) as opened:
        hits = rerank("?", search("?"))
        with rop.using_round(1), rop.using_stage("packing", input=hits) as packing:
            packing.returned(hits[:3], labels=["S1", "S2", "S3"], tokens=3)
        opened.answered("see [S1]", sources=hits[:3])


def unreadable() -> None:
    with rop.handoff("qa", selected="d1"):
        detached()


def generator() -> None:
    with rop.handoff("qa", selected="d1"):
        list(one_by_one("?"))
        next(iter(one_by_one("?")))


def asynchronous() -> None:
    async def ask() -> None:
        async with rop.handoff("qa", selected="d1"):
            rerank("?", await searched("?"))
            async for _ in each("?"):
                pass

    steps = ask()  # without an event loop, which swallows what comes up between its tasks
    try:
        while True:
            steps.send(None)
    except StopIteration:
        return
    finally:
        steps.close()


def started() -> None:
    opened = rop.start_handoff("qa", selected="d1")
    with opened:
        search("?")
    opened.close()


def journalled() -> None:
    with rop.run("r", expected=["a", "b"], journal=journal), rop.handoff("qa", record_id="a", selected="d1"):
        search("?")


journal: Path
TASKS: list[Callable[[], None]] = [stages, handoff, unreadable, generator, asynchronous, started, journalled]


class Heard:
    """A sink that reads what it is told."""

    def assessed(self, record: Any, assessment: Assessment, *, seconds: float) -> None:
        """Read it."""
        str(assessment)

    def noticed(self, notice: Any, *, where: str = "") -> None:
        """Read it."""
        str(notice)


RESOLVER = Resolver({"d1": ["d1", "d1#1"], "d2": ["d2#0"]})
CONFIGURED = {
    "on": Config(),
    "off": Config(enabled=False),
    "hashed": Config(hash_key=b"k" * 32, resolver=RESOLVER),
}


@pytest.fixture(params=CONFIGURED)
def configured(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[runtime.Runtime]:
    """What the process monitors with; afterwards no context is left over."""
    global journal
    journal = tmp_path / "journal"
    tracer = TracerProvider().get_tracer("rop_otel")  # without SimpleSpanProcessor, which swallows what comes up in it
    made = runtime.Runtime(CONFIGURED[request.param], tracer=tracer, sinks=(Heard(),))
    before, context = runtime.install(made), get_current()
    logging.disable(logging.CRITICAL)  # logging swallows what comes up in a handler of its own
    yield made
    logging.disable(logging.NOTSET)
    attach(context)
    runtime.install(before)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_every_time_limit_arrives(configured: runtime.Runtime, task: Callable[[], None]) -> None:
    """Alarms raise in stages, handoffs and runs, thousands of them, and every one of them reaches the task.

    Nearly no handoff stays open by that, and none for longer than an open one may.
    """
    task()  # imports what it needs: an interrupted import is none of ours
    with alarms() as timer:
        count = timer.count(task, rounds=ROUNDS, longest=LONGEST)
    assert count.raised == count.arrived == ROUNDS
    attach(Context())
    gc.collect()
    assert configured.ledger.open_count() <= ROUNDS // 10


def test_interrupted_handoffs_leave_nothing_current(configured: runtime.Runtime) -> None:
    """Where a block around the task puts back what was current, the next task begins where the first one began."""

    def task() -> None:
        with rop.handoff("around"):
            handoff()

    def left() -> int:
        found = 0
        with alarms() as timer:
            for _ in range(ROUNDS):
                timer.count(task, rounds=1, longest=LONGEST)
                found += rop.current_handoff().id != ""
                attach(Context())
        return found

    # At the very first instruction of an __exit__() nothing can be put back; on a busy machine many hit that by chance.
    assert any(left() <= ROUNDS // 50 for _ in range(3))


def test_what_another_thread_sets_arrives(configured: runtime.Runtime) -> None:
    """A class of the application's that another thread sets as an exception ends the task, wherever it comes up."""
    arrived: list[int] = []
    lost: list[int] = []
    running = threading.Event()

    def until(end: float) -> None:
        while time.monotonic() < end:
            handoff()

    def work() -> None:
        for number in range(ROUNDS):
            with suppress(JobTimeoutError):
                running.set()
                until(time.monotonic() + 10)
                lost.append(number)
                continue
            arrived.append(number)

    handoff()
    with collecting_alone():
        worker = threading.Thread(target=work)
        worker.start()
        for number in range(ROUNDS):
            assert running.wait(60), f"the thread ended in round {number}"
            running.clear()
            time.sleep(0.0005)
            raised, ours = ctypes.py_object(JobTimeoutError), ctypes.c_ulong(worker.ident or 0)
            assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ours, raised) == 1
            while len(arrived) + len(lost) == number and worker.is_alive():
                time.sleep(0.0001)
        worker.join()
    assert lost == []
    assert len(arrived) == ROUNDS
