"""What is interrupted by its own thread, with what, and what holds afterwards."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Notice, StageRecord, Verdict
from rop_otel.core.profile.run_status import Standing
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.export.sending import CountingProcessor
from rop_otel.instrumenting.deferred import Deferred
from rop_otel.meters.metric_values import Capped
from rop_otel.meters.tally import Tally
from rop_otel.testing import capture
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.diagnostics import Diagnostics, Problem
from rop_otel.tracing.running.ledger import Ledger
from rop_otel.tracing.running.open_runs import Runs
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard
from tests.meters.build import assessment, handoff, stage


class Case:
    """Something that is interrupted at one place.

    Its ``work`` is what is interrupted, each of its ``nested`` what interrupts it, and ``check`` what holds afterwards.
    """

    nested: tuple[str, ...] = ()

    def work(self) -> None:
        """Do what is interrupted."""
        raise NotImplementedError

    def check(self) -> None:
        """Assert what holds after work that was interrupted once."""
        raise NotImplementedError

    def end(self) -> None:
        """Clean up."""


class OfTally(Case):
    """Counts a handoff and an error; so does what comes in between, or it reads everything."""

    nested: tuple[str, ...] = ("add", "read")

    def __init__(self) -> None:
        self.tally = Tally(max_names=3)
        self.added = 0

    def add(self) -> None:
        self.added += 1
        self.tally.assessed(handoff("qa", stage("vector", "d1")), assessment(Verdict.PASS), seconds=0.1)
        self.tally.noticed(Notice.ERROR, where="sink")

    work = add

    def read(self) -> None:
        for metric in semconv.METRICS:
            self.tally.points(metric)
            self.tally.histograms(metric)

    def check(self) -> None:
        verdicts = {point.values: point.number for point in self.tally.points(semconv.VERDICTS)}
        assert verdicts.get(("qa", "PASS", "hard"), 0) == self.added
        assert sum(each.number for each in self.tally.points(semconv.SELF_ERRORS)) == self.added
        assert sum(each.number for each in self.tally.points(semconv.STAGE_EXECUTIONS)) == self.added
        assert sum(sum(each.counts) for each in self.tally.histograms(semconv.STAGE_DURATION)) == self.added


class OfScrape(OfTally):
    """Reads everything; in the middle a handoff is counted."""

    nested = ("add",)
    work = OfTally.read


class OfLabels(Case):
    """Takes a string in where there is room for one."""

    nested = ("other",)

    def __init__(self) -> None:
        self.labels = Capped(1)

    def work(self) -> None:
        self.labels("a")

    def other(self) -> None:
        self.labels("b")

    def check(self) -> None:
        assert [self.labels("a"), self.labels("b")].count(semconv.OTHER) >= 1


class OfLedger(Case):
    """Opens a handoff, drops one whose time is over and closes one; another one does so in the middle."""

    nested = ("use", "close", "look", "give_up")

    def __init__(self) -> None:
        self.now = [0.0]
        self.notices: list[Notice] = []
        self.ledger = Ledger(max_open=9, ttl_seconds=1.0, notify=self.notices.append, clock=lambda: self.now[0])
        self.old = self.ledger.open("old")
        self.now[0] = 0.5
        self.open = self.ledger.open("open")
        self.now[0] = 1.2
        self.closed: list[object] = []

    def work(self) -> None:
        self.use("first")
        self.close()

    def use(self, name: str = "second") -> None:
        opened = self.ledger.open(name)
        assert opened is not None
        assert opened.ended(StageRecord(kind="vector", trace_id="", span_id="", start_ns=1, end_ns=2))
        stages = self.ledger.close(opened)
        assert stages is not None
        assert len(stages) == 1

    def close(self) -> None:
        assert self.open is not None
        if self.ledger.close(self.open) is not None:
            self.closed.append(self.open)

    def look(self) -> None:
        self.ledger.open_count()

    def give_up(self) -> None:
        assert self.old is not None
        self.ledger.abandon(self.old)

    def check(self) -> None:
        assert self.closed == [self.open]
        assert (self.ledger.open_count(), self.notices) == (0, [Notice.EXPIRED])


class OfHandoff(Case):
    """Ends a handoff; what comes in between ends it, too, or runs another one."""

    nested = ("close", "another", "read")

    def __init__(self) -> None:
        self.heard = Heard()
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        self.processor = CountingProcessor(lambda: self.exporter, lost=lambda _: None)
        provider.add_span_processor(self.processor)
        self.before = runtime.install(Runtime(Config(), tracer=provider.get_tracer("tests"), sinks=(self.heard,)))
        self.handoff = rop.start_handoff("qa", selected="d1")
        with self.handoff:
            self.retrieve()

    def retrieve(self) -> None:
        with rop.using_stage("packing") as packing:
            packing.returned(["d1"])

    def close(self) -> None:
        self.handoff.close()

    work = close

    def another(self) -> None:
        with rop.handoff("another", selected="d1"):
            self.retrieve()

    def read(self) -> None:
        assert self.handoff.assessment.handoff_name == "qa"

    def check(self) -> None:
        others = [each for each in self.heard.assessments if each.handoff_name == "another"]
        own = [each for each in self.heard.assessments if each.handoff_name == "qa"]
        assert {each.verdict for each in self.heard.assessments} == {Verdict.PASS}
        assert own == [self.handoff.assessment]
        self.processor.force_flush()
        assert len(self.exporter.get_finished_spans()) == 2 + 2 * len(others)

    def end(self) -> None:
        runtime.install(self.before)
        self.processor.shutdown()  # type: ignore[no-untyped-call]


class OfRegistry(Case):
    """Takes runs in and out."""

    nested = ("other", "read", "fill")

    def __init__(self) -> None:
        self.runs = Runs(most=3)
        self.others = count()
        self.added: list[Any] = []
        self.first = self._run("first")
        self.runs.add(self.first)

    def _run(self, name: str) -> Any:
        standing = Standing(run_id=name, status=RunStatus.RUN_PASS, records={})
        return SimpleNamespace(id=name, standing=lambda: standing)

    def work(self) -> None:
        self.runs.remove(self.first, self.first.standing())
        self.runs.add(self._run("second"))

    def other(self) -> None:
        self.added.append(self._run(f"other {next(self.others)}"))
        self.runs.add(self.added[-1])

    def read(self) -> None:
        self.runs.standings()

    def fill(self) -> None:
        for _ in range(4):
            self.other()

    def check(self) -> None:
        assert set(self.runs.open) == {"second", *(each.id for each in self.added)}
        assert len(self.runs.standings()) <= 3


class OfMishaps(Case):
    """Notes a misuse."""

    nested = ("work",)

    def __init__(self) -> None:
        self.heard = Heard()
        self.diagnostics = Diagnostics((self.heard,))
        self.noted = 0

    def work(self) -> None:
        self.noted += 1
        self.diagnostics.misuse(Problem.STAGE, "here", "it is wrong")

    def check(self) -> None:
        assert sum(self.heard.notices.values()) == self.noted


class OfDeferred(Case):
    """Begins a handoff with the first retrieval, and ends it."""

    nested = ("retrieve", "end_it")

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.deferred = Deferred(self)

    def __enter__(self) -> None:
        self.entered.append("begun")

    def __exit__(self, *_: object) -> None:
        self.entered.append("ended")

    def retrieve(self) -> None:
        self.deferred.context()

    def end_it(self) -> None:
        self.deferred.end()

    def work(self) -> None:
        self.deferred.context()
        self.deferred.end()

    def check(self) -> None:
        assert self.entered.count("begun") <= 1


class OfCapture(Case):
    """Captures handoffs in a test of an application."""

    nested = ("work",)

    def __init__(self) -> None:
        self.block = capture()
        self.captured = self.block.__enter__()
        self.done = 0

    def work(self) -> None:
        self.done += 1
        with rop.handoff(f"handoff {self.done}"):
            pass

    def check(self) -> None:
        names = [each.handoff_name for each in self.captured.assessments]
        assert names == [each.name for each in self.captured.records]
        assert len(names) == self.done

    def end(self) -> None:
        self.block.__exit__(None, None, None)
