"""What is interrupted by its own thread, with what, and what holds afterwards."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Notice, StageRecord, Verdict
from rop_otel.core.profile.standing import Standing
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.export.open_spans import OpenSpans
from rop_otel.export.process import Process
from rop_otel.export.processor import RopSpanProcessor
from rop_otel.export.sending import CountingProcessor
from rop_otel.meters.instruments import Recorder
from rop_otel.meters.labels import Capped
from rop_otel.meters.tally import Tally
from rop_otel.runs.live import Run
from rop_otel.testing import capture
from rop_otel.tracing import runtime
from rop_otel.tracing.deferred import Deferred
from rop_otel.tracing.ledger import Ledger
from rop_otel.tracing.mishaps import Mishap, Mishaps
from rop_otel.tracing.runs import RUNS, Runs
from rop_otel.tracing.runtime import Runtime
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


class OfQueue(Case):
    """Ends a span that is queued for export."""

    nested = ("work",)

    def __init__(self) -> None:
        self.sent = 0
        self.ended = 0
        self.lost: list[int] = []
        self.processor = CountingProcessor(lambda: self, lost=self.lost.append)  # type: ignore[arg-type, return-value]
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(self.processor)

    def export(self, spans: Any) -> SpanExportResult:
        self.sent += len(spans)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Do nothing."""

    def work(self) -> None:
        self.ended += 1
        self.provider.get_tracer("tests").start_span("span").end()

    def check(self) -> None:
        self.processor.force_flush()
        assert (self.sent, self.lost, self.processor._pending._count) == (self.ended, [], 0)

    def end(self) -> None:
        self.processor.shutdown()  # type: ignore[no-untyped-call]


class OfHistograms(Case):
    """Records durations with the SDK, whose locks no thread can take twice."""

    nested = ("work",)

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], shutdown_on_exit=False)
        self.recorder = Recorder(self.provider.get_meter("tests"), names=Capped(1), kinds=Capped(1))
        self.recorded = 0

    def work(self) -> None:
        self.recorded += 1
        self.recorder.assessed(handoff("qa", stage("vector", "d1")), assessment(Verdict.PASS), seconds=0.1)

    def check(self) -> None:
        data = self.reader.get_metrics_data()
        assert data is not None
        points = [
            point for metric in data.resource_metrics[0].scope_metrics[0].metrics for point in metric.data.data_points
        ]
        assert [point.count for point in points if not isinstance(point, int)] == [self.recorded] * 2  # type: ignore[union-attr]


class OfProcess(Case):
    """Configures the process and ends that; in the middle somebody else does either."""

    nested = ("configure", "shutdown")
    port: int | None = None

    def __init__(self) -> None:
        self.process = Process()
        self.before = runtime.install(None)
        self.configured = False

    def configure(self) -> None:
        with self.process.lock:
            providers = {"tracers": TracerProvider(shutdown_on_exit=False), "meters": None, "logs": None}
            self.process.install(Config(metrics_port=self.port), **providers)  # type: ignore[arg-type]

    def shutdown(self) -> None:
        with self.process.lock:
            self.process.uninstall(1.0)

    def work(self) -> None:
        self.configure()
        self.shutdown()
        self.configure()

    def check(self) -> None:
        installed = runtime.install(None)
        assert self.process.is_installed == (installed is not None)
        assert installed is None or (self.process.server is None) == (self.port is None)

    def end(self) -> None:
        self.shutdown()
        assert self.process.server is None
        runtime.install(self.before)


class OfServer(OfProcess):
    """The same with a server, whose end takes half a second."""

    port = 0


class OfOthersSpans(Case):
    """Ends a handoff of somebody else's spans."""

    nested = ("work",)

    def __init__(self) -> None:
        self.heard = Heard()
        monitor = Runtime(Config(), sinks=(self.heard,))
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(RopSpanProcessor(lambda: monitor, spans=OpenSpans()))
        self.done = 0

    def work(self) -> None:
        self.done += 1
        tracer = self.provider.get_tracer("others")
        asked = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["d1"]}
        packed = {semconv.STAGE: "packing", semconv.RETURNED_IDS: ["d1"]}
        with tracer.start_as_current_span("ask", attributes=asked):
            tracer.start_span("pack", attributes=packed).end()

    def check(self) -> None:
        assert [each.verdict for each in self.heard.assessments] == [Verdict.PASS] * self.done


class OfMishaps(Case):
    """Notes a misuse."""

    nested = ("work",)

    def __init__(self) -> None:
        self.heard = Heard()
        self.mishaps = Mishaps((self.heard,))
        self.noted = 0

    def work(self) -> None:
        self.noted += 1
        self.mishaps.misuse(Mishap.STAGE, "here", "it is wrong")

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
