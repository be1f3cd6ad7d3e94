from __future__ import annotations

from collections.abc import Iterator

import pytest

import rop_otel as rop
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.open_runs import RUNS


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Put the process's runtime back, and leave no run open."""
    before = runtime.install(None)
    yield
    rop.shutdown()
    runtime.install(before)
    RUNS.forget()
