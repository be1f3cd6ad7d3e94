"""Our spans in OpenInference's attributes, when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.replay.handoff_report import replay
from rop_otel.spans import Span, from_sdk
from rop_otel.spans.conventions import Rules, as_stage
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.runtime import Runtime


class Exported:
    """The spans of a runtime of its own."""

    def __init__(self, *, openinference: bool = True) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False, span_limits=SpanLimits())
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        config = Config(openinference=openinference)
        self.runtime = Runtime(config, tracer=provider.get_tracer(semconv.SCOPE_NAME))
        runtime.install(self.runtime)

    def span(self, name: str) -> ReadableSpan:
        """Return the finished span of a name."""
        [found] = [span for span in self.exporter.get_finished_spans() if span.name == name]
        return found


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """Put the process's runtime back."""
    before = runtime.install(None)
    yield
    runtime.install(before)


def pipeline(count: int = 2) -> None:
    """Run a question."""
    found = [{"id": f"d{place}", "score": 1 - place / 1000} for place in range(count)]
    with rop.handoff("qa", selected="d1") as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(found)
        with rop.using_stage("rerank", input=found) as stage:
            stage.returned(found[::-1])
        handoff.answered("It is so.", sources=found)


def as_theirs(span: ReadableSpan) -> Mapping[str, object]:
    """Return what somebody who knows nothing of us reads in a span."""
    attributes = {key: value for key, value in (span.attributes or {}).items() if not key.startswith(semconv.OURS)}
    read = as_stage(Span(trace_id="", span_id="", name=span.name, attributes=attributes), Rules())
    assert read is not None
    return read


def test_nothing_of_it_without_being_asked() -> None:
    """By default no span carries anything of OpenInference."""
    exported = Exported(openinference=False)
    pipeline()
    for span in exported.exporter.get_finished_spans():
        assert all(key.startswith((semconv.OURS, "gen_ai.")) for key in span.attributes or {})


def test_documents_are_there_for_others() -> None:
    """A source is a retriever with documents, a reranker has those that it was handed too, a handoff is a chain."""
    exported = Exported()
    pipeline()
    source, rerank = as_theirs(exported.span("vector")), as_theirs(exported.span("rerank"))
    assert (source[semconv.STAGE], source[semconv.RETURNED_IDS]) == ("retriever", ("d0", "d1"))
    assert source[semconv.RETURNED_SCORES] == (1.0, 0.999)
    assert (rerank[semconv.STAGE], rerank[semconv.RETURNED_IDS]) == ("rerank", ("d1", "d0"))
    assert rerank[semconv.INPUT_IDS] == ("d0", "d1")
    for name in ("handoff qa", "reader"):
        assert (exported.span(name).attributes or {})[semconv.OPENINFERENCE_SPAN_KIND] == "CHAIN"


def test_many_documents_push_nothing_out() -> None:
    """Of a long list the best documents are written, so that the limit of a span leaves all of ours in."""
    exported = Exported()
    pipeline(1000)
    for name, most in (("vector", 40), ("rerank", 20)):
        span = exported.span(name)
        assert span.dropped_attributes == 0
        assert len((span.attributes or {})[semconv.RETURNED_IDS]) == 1000  # type: ignore[arg-type] # a tuple
        read = as_theirs(span)[semconv.RETURNED_IDS]
        assert isinstance(read, tuple)
        assert len(read) == most


def test_a_document_without_an_id_keeps_its_place() -> None:
    """A place without an ID is written as one, and a stage without any has none."""
    exported = Exported()
    with rop.handoff("qa"):
        with rop.using_stage("vector") as stage:
            stage.returned([None, "b"])
        with rop.using_stage("lexical"):
            pass
    assert as_theirs(exported.span("vector"))[semconv.RETURNED_IDS] == ("", "b")
    assert semconv.RETURNED_IDS not in as_theirs(exported.span("lexical"))


def test_our_own_attributes_are_what_we_read() -> None:
    """Spans with both are read by ours, so that every stage counts once."""
    exported = Exported()
    pipeline(1000)
    [found] = replay(map(from_sdk, exported.exporter.get_finished_spans())).assessments
    assert [(each.stage, each.returned) for each in found.stages] == [("vector", 1000), ("rerank", 1000)]
    assert found.selected_rank == 999
