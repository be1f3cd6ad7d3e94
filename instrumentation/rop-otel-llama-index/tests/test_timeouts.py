"""Time limits that a signal handler raises in LlamaIndex reach the task that they end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index_parts import Found, Watch, WordRerank, engine
from opentelemetry.context import Context, attach

from rop_otel.config import Config
from tests.safety.alarms import alarms

ROUNDS = 300


@pytest.fixture(params=[True, False], ids=["on", "off"])
def quiet(request: pytest.FixtureRequest) -> Iterator[Config]:
    """Whether something is monitored; without logging, which swallows what comes up in a handler of its own."""
    logging.disable(logging.CRITICAL)
    yield Config(enabled=request.param)
    logging.disable(logging.NOTSET)
    attach(Context())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # finalizers of LlamaIndex's are its own
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_every_time_limit_arrives(watch: Watch, quiet: Config, streaming: bool) -> None:
    """Whatever comes up in code of ours reaches the caller of an engine; LlamaIndex swallows what it always did."""
    watch(quiet, selected_by=lambda question: "n1")
    asked: Any = engine(Found("n1", "n2", "n3"), WordRerank(), streaming=streaming)

    def task() -> None:
        answer = asked.query("?")
        if streaming:
            list(answer.response_gen)

    task()
    with alarms() as timer:
        count = timer.count(task, rounds=ROUNDS, longest=0.006)
    attach(Context())
    count.check_ours()
