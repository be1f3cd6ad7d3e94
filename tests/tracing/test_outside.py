"""A stage that runs outside of any handoff."""

from __future__ import annotations

import logging

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

import rop_otel as rop
from rop_otel import semconv
from rop_otel.tracing.position.context_position import using_context
from tests.tracing.watched import Watched


@rop.stage("vector")
def search() -> list[str]:
    """Return documents."""
    return ["a"]


def test_it_is_logged_once(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """One warning for each function, which is no error."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for _ in range(3):
            search()
        with rop.using_stage("rerank") as stage:
            stage.returned(search())
    assert [line.partition(":")[0] for line in caplog.messages] == ["stage 'vector', search", "rerank"]
    assert "outside of any handoff" in caplog.messages[0]
    assert watched.errors("stage") == 0


def test_the_running_stage_is_known(watched: Watched) -> None:
    """A decorated function reports what its result does not, also where its handoff is another service's."""

    @rop.stage("rerank")
    def rerank() -> list[str]:
        rop.current_handoff().running_stage.implementation("word overlap", fallback=True)
        return ["a"]

    rerank()
    assert watched.attributes("rerank")[semconv.STAGE_IMPLEMENTATION] == "word overlap"


def test_in_a_handoff_and_below_a_span_of_others_it_is_not(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """A handoff that others open, here or in another service, may own the stage."""
    above = NonRecordingSpan(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1)))
    with caplog.at_level(logging.WARNING, "rop_otel"):
        with rop.handoff("qa"):
            search()
        with using_context(trace.set_span_in_context(above, Context())):
            search()
    assert caplog.messages == []
