from __future__ import annotations

import pytest

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Notice
from rop_otel.core.profile import Resolver
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.diagnostics import Diagnostics, Problem
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard


class BrokenResolver(Resolver):
    """A resolver that raises."""

    def __init__(self) -> None:
        super().__init__({"a": ["a"]})

    def canonical(self, raw: str) -> str:
        raise KeyError(raw)

    def resolve(self, raw: str) -> str | None:
        raise KeyError(raw)


class BrokenSink:
    """A sink that raises."""

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        raise RuntimeError("sink")

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        raise RuntimeError("sink")


def test_application_sees_its_own_exception_though_the_resolver_raises(caplog: pytest.LogCaptureFixture) -> None:
    """Both raise: the application sees its ValueError, the error is counted, and later sinks hear of it."""
    heard = Heard()
    runtime.install(Runtime(Config(resolver=BrokenResolver()), sinks=(BrokenSink(), heard)))
    error = ValueError("no answer")
    handoff = rop.handoff("qa", selected="a")

    def answer() -> None:
        with handoff, rop.using_stage("packing") as stage:
            stage.returned(["a"])
            raise error

    with pytest.raises(ValueError, match="no answer") as caught:
        answer()
    assert caught.value is error
    assert heard.notices[Notice.ERROR, "assess"] == 1
    assert str(handoff.assessment) == "qa: not assessed, the assessment raised KeyError"
    assert len(caplog.messages) == 2


def test_different_messages_of_one_place_are_logged_once_each(caplog: pytest.LogCaptureFixture) -> None:
    """A second kind of trouble at one place is not hidden by the first; one whose value changes ends at some point."""
    diagnostics = Diagnostics()
    for message in ("no list", "no ID", "no list"):
        diagnostics.misuse(Problem.IDS, "search", message)
    assert [message.partition(" (")[0] for message in caplog.messages] == ["search: no list", "search: no ID"]
    for number in range(100):
        diagnostics.misuse(Problem.IDS, "search", f"number {number}")
    assert len(caplog.messages) == 5


def test_sink_that_raises_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """A broken sink is counted, each of its troubles is logged once, and the others hear of every handoff."""
    heard = Heard()
    runtime.install(Runtime(Config(), sinks=(BrokenSink(), heard)))
    for _ in range(3):
        with rop.handoff("qa"):
            pass
    assert len(heard.assessments) == 3
    assert heard.notices[Notice.ERROR, "sink"] == 3
    assert [message.partition(" (")[0] for message in caplog.messages] == [
        "BrokenSink: a sink of notices raised",
        "BrokenSink: a sink of assessments raised",
    ]
