"""Retrieval outside of any handoff, of which nothing else would tell."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext, TraceFlags, use_span

import rop_otel as rop
from rop_otel.instrumenting import Settings, retrieved_outside, topmost


@pytest.fixture(autouse=True)
def _warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which warnings were given."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())


def test_it_is_told_once_for_each_framework(watched: object, caplog: pytest.LogCaptureFixture) -> None:
    """The warning names what retrieved first, and says what to write."""
    for what in ("search", "look_up"):
        retrieved_outside("LangChain", what)
    retrieved_outside("Haystack", "search")
    told = [record.getMessage() for record in caplog.records]
    assert [message.partition(" retrieved")[0] for message in told] == ["LangChain: search", "Haystack: search"]
    assert "`with rop.handoff(name, selected=...):`" in told[0]


def test_a_stage_that_begins_next_says_it_by_itself(watched: object, caplog: pytest.LogCaptureFixture) -> None:
    """One of both speaks: the stage where no span is around it, else the package."""
    above = NonRecordingSpan(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1)))
    for around, said in ((INVALID_SPAN, "vector"), (above, "LangChain")):
        caplog.clear()
        with use_span(around):
            retrieved_outside("LangChain", "search", as_stage=True)
            with rop.using_stage("vector") as stage:
                stage.returned(["n1"])
        assert [line.partition(":")[0] for line in caplog.messages] == [said]


def test_where_it_is_as_it_should_be(watch: Callable[..., object], caplog: pytest.LogCaptureFixture) -> None:
    """Inside of a handoff, in a selector and where monitoring is off, nothing is said."""

    def selector(inputs: object) -> str:
        retrieved_outside("LangChain", "selector")
        return "d1"

    watch()
    settings = Settings(selected_by=selector)
    with rop.handoff("mine"):
        retrieved_outside("LangChain", "search")
    with topmost(settings, name="theirs"):
        pass
    watch(enabled=False)
    retrieved_outside("LangChain", "search")
    assert not caplog.records
