"""What an application does around the monitor: to the clock, to ``random``, to contexts, with copies and signals."""

from __future__ import annotations

import copy
import random
import signal
import time
from typing import Any

import pytest
from opentelemetry import baggage
from opentelemetry.context import attach

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.core.handoff import DropCause
from rop_otel.meters.tally import Tally
from rop_otel.semconv import METRICS
from rop_otel.tracing.running import handoff_trace, runtime
from rop_otel.tracing.running.ledger import Ledger
from rop_otel.tracing.running.runtime import Runtime
from tests.tracing.watched import Watched, retrieve


class UnspeakableError(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("str")


@pytest.mark.parametrize("step", [0, -1_000_000])
def test_stages_keep_their_order_whatever_the_clock_does(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A clock that stands still (a coarse one, a frozen one) or runs backwards changes no order and makes none late."""
    ticks = iter(range(10**12, 0, step or -1))
    monkeypatch.setattr(handoff_trace, "monotonic_ns", lambda: next(ticks) if step else 0)
    kinds = ["vector", "boost", "candidates", "rerank", "mmr", "reorder", "sentence_selection", "packing"]
    with rop.handoff("qa", selected="a") as handoff:
        for kind in kinds:
            with rop.using_stage(kind) as stage:
                stage.returned([] if kind == "packing" else ["a"])
    assert [scores.stage for scores in handoff.assessment.stages] == kinds
    assert handoff.assessment.drop_cause is DropCause.OVER_BUDGET
    assert {finding.code.value for finding in handoff.assessment.findings}.isdisjoint({"stage_late"})


def test_stages_that_seed_random_are_all_seen(watched: Watched) -> None:
    """Span IDs come from ``random``: where stages seed it alike they repeat, and no stage is taken for another."""
    before = random.getstate()
    try:
        with rop.handoff("qa", selected="a") as handoff:
            for kind in ("vector", "rerank", "mmr", "packing"):
                with rop.using_stage(kind) as stage:
                    random.seed(7)
                    stage.returned([] if kind == "packing" else ["a"])
    finally:
        random.setstate(before)
    assert [scores.stage for scores in handoff.assessment.stages] == ["vector", "rerank", "mmr", "packing"]
    assert handoff.assessment.dropped_at == "packing"


def test_context_left_behind_does_not_keep_the_handoff_current(watched: Watched) -> None:
    """An application that attaches a context and never detaches it leaves the stage and the handoff all the same."""
    with rop.handoff("qa") as handoff:
        with rop.using_stage("vector") as stage:
            attach(baggage.set_baggage("user", "1"))
            stage.returned(["a"])
        assert rop.current_handoff() is handoff
        with rop.using_round(1):
            attach(baggage.set_baggage("user", "2"))
        with rop.using_stage("packing") as stage:
            stage.returned(["a"])
        attach(baggage.set_baggage("user", "3"))
    assert rop.current_handoff() is not handoff
    assert watched.stage("packing").parent_id is None
    assert watched.stage("packing").round is None


def test_copy_is_the_handoff_itself(watched: Watched) -> None:
    """Copies of what holds a handoff, as frameworks make of their state, neither fail nor give the handoff up."""
    with rop.handoff("qa") as handoff:
        state = {"handoff": handoff}
        assert copy.deepcopy(state)["handoff"] is copy.copy(handoff) is handoff
        with rop.handoff("other"):
            retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.NOT_APPLICABLE


def test_exception_that_cannot_be_shown_ends_its_spans(watched: Watched) -> None:
    """Where the SDK cannot record an exception, stage and handoff still end, with status ERROR."""
    with pytest.raises(UnspeakableError), rop.handoff("qa"), rop.using_stage("packing"):
        raise UnspeakableError
    assert watched.names == ["packing", "handoff qa"]
    assert [span.status.status_code.name for span in watched.spans] == ["ERROR", "ERROR"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_signal_handler_may_be_monitored_code() -> None:
    """A handoff in a signal handler, which runs in the middle of another one, deadlocks on no lock of ours.

    Each handler sets the next alarm when it is done: alarms in a fixed rhythm would interrupt handlers that take longer
    on a busy machine, ever deeper.
    """
    tally = Tally(max_names=1000, max_stages=1000)
    runtime.install(Runtime(Config(), sinks=(tally,)))
    handled = [0]

    def answer(*_: Any) -> None:
        handled[0] += 1
        with rop.handoff(f"signal {handled[0]}"), rop.using_stage(f"stage {handled[0]}") as stage:
            stage.returned(["a"])
        signal.setitimer(signal.ITIMER_REAL, 0.0003)

    def work() -> None:
        began = time.monotonic()
        while (passed := time.monotonic() - began) < 0.5 or (handled[0] <= 10 and passed < 60):
            with rop.handoff("main"):
                retrieve("a", packed=("a",))
            for metric in METRICS:
                tally.points(metric)

    before = signal.signal(signal.SIGALRM, answer)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
        work()
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled[0] > 10


def test_handoff_given_up_late_takes_no_other_with_it() -> None:
    """A handoff that is given up after its time leaves a new one with the same ID open."""
    now = [0.0]
    ledger = Ledger(max_open=10, ttl_seconds=1.0, notify=lambda _: None, clock=lambda: now[0])
    old = ledger.open("same")
    now[0] = 2.0
    new = ledger.open("same")
    assert old is not None
    assert new is not None
    ledger.abandon(old)
    assert ledger.open_count() == 1
    assert ledger.close(new) == ()
