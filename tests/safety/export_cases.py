"""What exports, interrupted by its own thread."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Verdict
from rop_otel.export.foreign_spans import ForeignSpans
from rop_otel.export.process import Process
from rop_otel.export.processor import RopSpanProcessor
from rop_otel.export.sending import CountingProcessor
from rop_otel.meters.instruments import Recorder
from rop_otel.meters.metric_values import Capped
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard
from tests.meters.build import assessment, handoff, stage
from tests.safety.cases import Case


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
        is_counted = installed is not None and bool(installed.sinks)  # after the end the settings stay, without sinks
        assert self.process.is_installed == is_counted
        assert not is_counted or (self.process.server is None) == (self.port is None)

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
        self.provider.add_span_processor(RopSpanProcessor(lambda: monitor, spans=ForeignSpans()))
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
