"""Signal handlers that use the monitor in the middle of anything, at random."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.meters.tally import Tally
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.open_runs import RUNS
from rop_otel.tracing.running.runtime import Runtime
from tests.export.test_processes import ROOT

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")

PAUSE = 0.0002
SECONDS = 1.0

CLOSING = """
import json, os, signal, sys
import rop_otel as rop

journal, pause = sys.argv[1], float(sys.argv[2])
run = rop.run("nightly", expected=[f"r{number}" for number in range(20_000)], journal=journal)

def close(*_):
    report = run.close()
    print(json.dumps([len(report.run.accounts.missing), list(report.incomplete)]))
    sys.stdout.flush()
    os._exit(0)

signal.signal(signal.SIGALRM, close)
with run:
    for number in range(20_000):
        if number == 20:
            signal.setitimer(signal.ITIMER_REAL, pause)
        with rop.handoff("qa", record_id=f"r{number}", selected="a"), rop.using_stage("packing") as stage:
            stage.returned(["a"])
"""


@contextmanager
def alarms(handle: Callable[[], None]) -> Iterator[None]:
    """Have something done again and again in a signal handler, a moment after each time."""

    def handler(*_: object) -> None:
        handle()
        signal.setitimer(signal.ITIMER_REAL, PAUSE)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, PAUSE)
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def tally() -> Iterator[Tally]:
    """Return what counts the handoffs of the process."""
    tally = Tally(open_count=lambda: runtime.current().ledger.open_count(), runs=RUNS.standings)
    before = runtime.install(Runtime(Config(), sinks=(tally,)))
    yield tally
    runtime.install(before)
    RUNS.forget()


def answer(name: str) -> None:
    with rop.handoff("qa", record_id=name, run_id="nightly", selected="a"), rop.using_stage("packing") as stage:
        stage.returned(["a"])


def test_a_run_that_handlers_use_is_complete(tmp_path: Path, tally: Tally) -> None:
    """Handlers end handoffs of the run, read and scrape in the middle of it: all is counted once, and written once."""
    names = [f"r{number}" for number in range(100_000)]
    journal = tmp_path / "journal.jsonl"
    left = iter(names)
    done: list[str] = []
    choice = random.Random(7)

    def handle() -> None:
        what = choice.randrange(4)
        if what == 0:
            _ = [tally.points(metric) for metric in semconv.METRICS]
        elif what == 1:
            run.standing()
        elif what == 2:
            with rop.run("another", expected=["x"]):
                pass
        else:
            done.append(name := next(left))
            answer(name)

    run = rop.run("nightly", expected=names, journal=journal)
    ends = time.monotonic() + SECONDS
    with alarms(handle):
        while time.monotonic() < ends:
            done.append(name := next(left))
            answer(name)
    report = run.close()
    counts = report.run.accounts.counts
    assert (report.incomplete, run.late, counts.observed) == ((), 0, len(done))
    assert set(report.run.accounts.missing) == set(names) - set(done)
    written = [json.loads(line)["record_id"] for line in journal.read_bytes().splitlines()]
    assert sorted(written) == sorted(done)
    verdicts = {point.values: point.number for point in tally.points(semconv.VERDICTS)}
    assert verdicts["qa", "PASS", "hard"] == len(done)
    assert rop.run("nightly", expected=names, journal=journal).missing == report.run.accounts.missing


@pytest.mark.parametrize("pause", [0.003, 0.011, 0.023])
def test_a_handler_may_close_the_run_and_end_the_process(tmp_path: Path, pause: float) -> None:
    """As a service does that is asked to stop: the report and the journal that stays say the same."""
    journal = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", CLOSING, str(journal), str(pause)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    missing, incomplete = json.loads(done.stdout)
    assert incomplete == []
    assert missing == 20_000 - journal.read_bytes().count(b"\n")
    again = rop.run("nightly", expected=[f"r{number}" for number in range(20_000)], journal=journal)
    assert len(again.missing) == missing
    again.close()
