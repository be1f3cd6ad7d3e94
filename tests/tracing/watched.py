"""A runtime with a tracer provider of its own, and the documents of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler
from opentelemetry.trace import Tracer

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, Notice, StageRecord
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard


@dataclass(frozen=True)
class Hit:
    """A search result."""

    chunk_id: str | None
    score: float | None = None


def hits(*ids: str) -> list[Hit]:
    """Return results with these IDs, the best first."""
    return [Hit(raw, 1.0 - place / 10) for place, raw in enumerate(ids)]


def retrieve(*ids: str, packed: tuple[str, ...] = ()) -> None:
    """Run two stages: a source, and what packs some of it."""
    with rop.using_stage("vector") as stage:
        stage.returned(list(ids))
    with rop.using_stage("packing", input=list(ids)) as stage:
        stage.returned(list(packed))


class Watched:
    """What a runtime of its own sees.

    Args:
        sampler: Of the tracer provider.
        limits: Of its spans.
        tracer: Instead of the provider's.
        settings: Of the configuration.
    """

    def __init__(
        self,
        *,
        sampler: Sampler | None = None,
        limits: SpanLimits | None = None,
        tracer: Tracer | None = None,
        **settings: Any,
    ) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler, span_limits=limits, shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.heard = Heard()
        self.runtime = Runtime(
            Config(**settings),
            tracer=tracer or self.provider.get_tracer(semconv.SCOPE_NAME),
            sinks=(self.heard,),
        )

    @property
    def spans(self) -> list[ReadableSpan]:
        """The finished spans, in the order of their ends."""
        return list(self.exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [span.name for span in self.spans]

    def attributes(self, name: str) -> dict[str, Any]:
        """Return the attributes of the only span with that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return dict(span.attributes or {})

    @property
    def assessment(self) -> Assessment:
        """The only assessment."""
        (assessment,) = self.heard.assessments
        return assessment

    def stages(self, handoff: int = -1) -> list[StageRecord]:
        """Return the stages of an assessed handoff."""
        return list(self.heard.records[handoff].stages)

    def stage(self, kind: str) -> StageRecord:
        """Return the only stage of that kind of the last handoff."""
        (stage,) = [stage for stage in self.stages() if stage.kind == kind]
        return stage

    def errors(self, where: str) -> int:
        """Return how many errors were counted at that place."""
        return self.heard.notices[Notice.ERROR, where]
