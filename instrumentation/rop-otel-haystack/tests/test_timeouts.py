"""Time limits that a signal handler raises in Haystack reach the task that they end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # finalizers of Haystack's are its own
def test_every_time_limit_arrives(watch: Any, parts: Any, quiet: Config) -> None:
    """Whatever comes up in code of ours reaches the caller of a pipeline; Haystack swallows what it always did."""
    watch.instrument(selected_by=lambda inputs: "timeouts")
    before = runtime.install(runtime.Runtime(quiet))
    pipeline, question = parts.build(), parts.question()
    pipeline.run(question)
    with alarms() as timer:
        count = timer.count(lambda: pipeline.run(question), rounds=ROUNDS, longest=0.006)
    runtime.install(before)
    count.check_ours()
