"""A tracer provider with our span processor, and a sink that remembers what it was told."""

from __future__ import annotations

from collections import Counter

from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Notice
from rop_otel.core.profile.resolver import Resolver
from rop_otel.export.foreign_spans import ForeignSpans
from rop_otel.export.processor import RopSpanProcessor
from rop_otel.tracing.running.runtime import Runtime


class Heard:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.records: list[HandoffRecord] = []
        self.assessments: list[Assessment] = []
        self.notices: Counter[tuple[Notice, str]] = Counter()

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Keep an assessment."""
        self.records.append(record)
        self.assessments.append(assessment)

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Keep a notice."""
        self.notices[notice, where] += 1


class Monitored:
    """A tracer provider of our own with one processor; ``tracer`` is somebody else's, ``runtime`` ours.

    Args:
        limits: Limits of its spans.
        resolver: The resolver in force.
        max_open, ttl_seconds: Of the ledger.
    """

    def __init__(
        self,
        *,
        limits: SpanLimits | None = None,
        resolver: Resolver | None = None,
        max_open: int = 100,
        ttl_seconds: float = 300.0,
    ) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False, span_limits=limits)
        self.heard = Heard()
        self.runtime = Runtime(
            Config(resolver=resolver, max_open=max_open, ttl_seconds=ttl_seconds),
            tracer=self.provider.get_tracer(semconv.SCOPE_NAME),
            sinks=(self.heard,),
        )
        self.active: Runtime | None = self.runtime
        self.open_spans = ForeignSpans()
        self.processor = RopSpanProcessor(lambda: self.active, spans=self.open_spans)
        self.provider.add_span_processor(self.processor)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("the application")

    @property
    def assessment(self) -> Assessment:
        """The only assessment so far."""
        (assessment,) = self.heard.assessments
        return assessment

    def spans(self, name: str) -> list[ReadableSpan]:
        """Return the finished spans of a name."""
        return [span for span in self.exporter.get_finished_spans() if span.name == name]
