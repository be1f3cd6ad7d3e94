"""What becomes of exceptions of an instrumentation package's own code."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from rop_otel.instrumenting import failure
from tests.tracing.watched import Watched


def test_a_failure_is_counted_each_time_and_logged_once(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """The log has the exception's type, and where it came through our code, once for each place; not what it says."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for place in ("a retriever", "a retriever", "a prompt"):
            try:
                raise AttributeError("graph")
            except AttributeError:
                failure(place, "it could not be watched")
    assert watched.errors("instrumentation") == 3
    assert [record.message.partition(":")[0] for record in caplog.records] == ["a retriever", "a prompt"]
    assert all("(AttributeError; further ones" in record.message for record in caplog.records)
    assert all(record.exc_info is None for record in caplog.records)


def test_a_failure_is_logged_as_a_whole_where_text_is_asked_for(
    watch: Callable[..., Watched], caplog: pytest.LogCaptureFixture
) -> None:
    """With ``capture_text`` the log has the exception with its message and traceback."""
    watch(capture_text=True)
    try:
        raise AttributeError("graph")
    except AttributeError:
        failure("a retriever", "it could not be watched")
    assert [str(record.exc_info and record.exc_info[1]) for record in caplog.records] == ["graph"]
