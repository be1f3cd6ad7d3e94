"""Spans that cannot be sent are counted, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rop_otel.export.sending import CountingProcessor
from tests.export.test_own_providers import FAILING, run


class Away(SpanExporter):
    """An exporter whose collector takes nothing, or does not answer until it is told to go on."""

    def __init__(self, result: SpanExportResult | Exception) -> None:
        self.result = result
        self.asked = Event()
        self.go_on = Event()
        self.sent = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Answer late."""
        self.asked.set()
        self.go_on.wait(60)
        if isinstance(self.result, Exception):
            raise self.result
        self.sent += len(spans)
        return self.result


class Lost:
    """Adds up what is lost."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, number: int) -> None:
        """Add."""
        self.count += number


def made(exporter: SpanExporter) -> tuple[TracerProvider, Lost]:
    lost = Lost()
    return provided(CountingProcessor(lambda: exporter, lost=lost)), lost


def provided(processor: CountingProcessor) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider


def end_spans(provider: TracerProvider, number: int) -> None:
    tracer = provider.get_tracer("tests")
    for _ in range(number):
        tracer.start_span("span").end()


@pytest.mark.parametrize("result", [SpanExportResult.FAILURE, OSError("broken pipe")])
def test_a_failed_batch_is_counted(result: SpanExportResult | Exception) -> None:
    """Every span of a batch that failed, or whose exporter raised, is lost."""
    exporter = Away(result)
    exporter.go_on.set()
    provider, lost = made(exporter)
    end_spans(provider, 7)
    provider.force_flush()
    provider.shutdown()
    assert lost.count == 7


def test_a_full_queue_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the exporter hangs, what the queue has no room for is lost; sent and lost are all there were."""
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")  # none goes before it is full, on a slow machine either
    exporter = Away(SpanExportResult.SUCCESS)
    provider, lost = made(exporter)
    end_spans(provider, 2)
    assert exporter.asked.wait(60)
    end_spans(provider, 9)
    assert lost.count == 5
    exporter.go_on.set()
    provider.shutdown()
    assert (exporter.sent, lost.count) == (6, 5)


def test_no_span_is_both_sent_and_lost() -> None:
    """While a batch is being taken out, the queue has room that is not known of yet: a span that comes then is lost."""
    exporter, lost = Away(SpanExportResult.SUCCESS), Lost()
    exporter.go_on.set()
    processor = CountingProcessor(lambda: exporter, lost=lost)
    provider = provided(processor)
    while processor._pending.add():
        pass
    end_spans(provider, 1)
    provider.shutdown()
    assert (exporter.sent, lost.count) == (0, 1)


def test_what_was_sent_is_not_lost() -> None:
    """Where the collector takes everything, nothing is counted."""
    exporter = Away(SpanExportResult.SUCCESS)
    exporter.go_on.set()
    provider, lost = made(exporter)
    end_spans(provider, 3000)
    provider.shutdown()
    assert exporter.sent + lost.count == 3000


def test_a_dead_collector_shows_on_metrics() -> None:
    """An application whose collector is dead goes on, and its own /metrics says how many spans were not sent."""
    program = """
import rop_otel as rop
port = rop.configure(metrics_port=0).metrics_port
"""
    check = """
from opentelemetry import trace
from urllib.request import urlopen
trace.get_tracer_provider().force_flush()
text = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
assert "\\nrop_self_spans_unsent_total 2.0\\n" in text, text
"""
    failing = FAILING.replace('rop.configure(service_name="docs-rag")', "").replace("import rop_otel as rop", "")
    dead = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces",
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1",
    }
    ended = run(program + failing + check, dead)
    assert ended.returncode == 0, ended.stderr
