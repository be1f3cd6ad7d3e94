from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rop_otel.tracing.running import runtime
from tests.tracing.watched import Watched


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Put the process's runtime back."""
    before = runtime.install(None)
    yield
    runtime.install(before)


@pytest.fixture
def watch() -> Callable[..., Watched]:
    """Return what installs a runtime with these settings, and gives all that it sees."""

    def install(**settings: Any) -> Watched:
        watched = Watched(**settings)
        runtime.install(watched.runtime)
        return watched

    return install


@pytest.fixture
def watched(watch: Callable[..., Watched]) -> Watched:
    """Everything that a runtime with the default settings sees."""
    return watch()
