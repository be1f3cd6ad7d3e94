from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.open_runs import RUNS
from tests.safety.recorded import Recorded


@pytest.fixture
def record() -> Iterator[Callable[..., Recorded]]:
    """Monitors with these settings, and keeps everything that leaves the process; nothing stays configured."""
    before = runtime.install(None)
    started: list[Recorded] = []

    def start(**settings: Any) -> Recorded:
        started.append(Recorded(**settings))
        return started[-1]

    yield start
    for each in started:
        each.stop()
    runtime.install(before)
    RUNS.forget()
