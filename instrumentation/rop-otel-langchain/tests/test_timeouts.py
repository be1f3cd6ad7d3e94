"""Time limits that a signal handler raises in LangChain reach the task that they end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from opentelemetry.context import Context, attach

from rop_otel.config import Config
from rop_otel.tracing.running import runtime
from tests.safety.alarms import alarms

ROUNDS = 300


@pytest.fixture(params=[True, False], ids=["on", "off"])
def quiet(request: pytest.FixtureRequest) -> Iterator[Config]:
    """Whether something is monitored; without logging, which swallows what comes up in a handler of its own."""
    logging.disable(logging.CRITICAL)
    yield Config(enabled=request.param)
    logging.disable(logging.NOTSET)
    attach(Context())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # finalizers of LangChain's are its own
@pytest.mark.parametrize("streamed", [False, True], ids=["invoked", "streamed"])
def test_every_time_limit_arrives(instrument: Any, parts: Any, quiet: Config, streamed: bool) -> None:
    """Whatever comes up in code of ours reaches the caller of a chain; LangChain swallows what it always did."""
    instrument(selected_by=lambda inputs: "n1")
    before = runtime.install(runtime.Runtime(quiet))
    # Without parts that run at once: an interrupted thread pool may wait for ever, with this package or without.
    asked = RunnableLambda(lambda found: {"context": parts.joined(found), "input": "?"})
    chain = parts.vector() | asked | parts.prompt | FakeListChatModel(responses=["So it is."])

    def task() -> None:
        if streamed:
            list(chain.stream("n1"))
        else:
            chain.invoke("n1")

    task()
    with alarms() as timer:
        count = timer.count(task, rounds=ROUNDS, longest=0.006)
    runtime.install(before)
    count.check_ours()
