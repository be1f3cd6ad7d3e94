"""Runs that are interrupted by their own thread."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import rop_otel as rop
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Verdict
from rop_otel.runs.live import Run
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.open_runs import RUNS
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard
from tests.safety.cases import Case


class OfRun(Case):
    """Counts a handoff in a run with a journal; in the middle others are counted, or the run is read or closed."""

    nested = ("another", "close", "read", "start", "another_and_close")

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        self.journal = Path(self.folder.name) / "journal.jsonl"
        self.heard = Heard()
        self.before = runtime.install(Runtime(Config(), sinks=(self.heard,)))
        self.run = self._started()
        self.names = iter("bcdefgh")
        self._answer("a")

    def _started(self) -> Run:
        return rop.run("nightly", expected=list("abcdefghz"), journal=self.journal)

    def _answer(self, name: str) -> None:
        self.done.append(name)
        record = HandoffRecord(
            name="qa", handoff_id=name, trace_id="", span_id="", record_id=name, run_id="nightly", start_ns=1, end_ns=2
        )
        self.run.observed(record, Assessment(handoff_name="qa", handoff_id=name, verdict=Verdict.PASS))

    @cached_property
    def done(self) -> list[str]:
        return []

    def another(self) -> None:
        self._answer(next(self.names))

    work = another

    def close(self) -> None:
        self.run.close()

    def another_and_close(self) -> None:
        self.another()
        self.close()

    def read(self) -> None:
        assert "z" in str(self.run.missing)
        assert self.run.standing().records["MISSING"] >= 1
        assert self.run.report is None

    def start(self) -> None:
        with rop.run("another", expected=["x"]):
            pass

    def check(self) -> None:
        report = self.run.close()
        counted = [entry.record_id for entry in report.entries]
        assert sorted(counted) == sorted(set(counted))
        assert len(counted) + self.run.late == len(self.done)
        assert report.incomplete == ()
        assert self.run.standing().records["FINISHED"] == report.run.accounts.counts.observed == len(counted)
        assert report.run.verdicts["PASS"] == sum(report.run.accounts.counts.ranks.values()) or not counted
        assert sorted(json.loads(line)["record_id"] for line in self.journal.read_bytes().splitlines()) == counted
        again = self._started()
        assert again.missing == report.run.accounts.missing == tuple(sorted(set("abcdefghz") - set(counted)))
        assert again.close().incomplete == ()

    def end(self) -> None:
        runtime.install(self.before)
        RUNS.forget()
        self.folder.cleanup()


class OfRunsEnd(OfRun):
    """Closes a run; in the middle it is closed, too, or a handoff of it ends."""

    def work(self) -> None:
        self.run.close()

    def read(self) -> None:
        assert "z" in str(self.run.missing)
        assert self.run.standing().records["MISSING"] >= 1
        assert self.run.report in (None, self.run.close())
