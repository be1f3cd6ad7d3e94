"""What becomes of exceptions of an instrumentation package's own code."""

from __future__ import annotations

import logging

import pytest

from rop_otel.instrumenting import failure
from tests.tracing.watched import Watched


def test_a_failure_is_counted_each_time_and_logged_once(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """The log has the exception once for each place."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for place in ("a retriever", "a retriever", "a prompt"):
            try:
                raise AttributeError("graph")
            except AttributeError:
                failure(place, "it could not be watched")
    assert watched.errors("instrumentation") == 3
    assert [record.message.partition(":")[0] for record in caplog.records] == ["a retriever", "a prompt"]
    assert all(record.exc_info is not None for record in caplog.records)
