"""One-call set-up and its end, with providers passed in."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from dataclasses import fields
from threading import Event
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.errors import ConfigurationError
from rop_otel.export import configure_once
from rop_otel.tracing.running import runtime
from tests.export.scraping import samples, value
from tests.grafana.prometheus import free_port


class Outside:
    """Everything that an application hands to ``configure``."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.events = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self.logs = LoggerProvider(shutdown_on_exit=False)
        self.logs.add_log_record_processor(SimpleLogRecordProcessor(self.events))

    def configure(self, **settings: Any) -> int | None:
        """Configure with these providers and return the port of ``/metrics``."""
        return rop.configure(
            tracer_provider=self.tracers,
            meter_provider=self.meters,
            logger_provider=self.logs,
            **settings,
        ).metrics_port

    def metric_names(self) -> set[str]:
        """Return the names of what OpenTelemetry exports."""
        data = self.reader.get_metrics_data()
        if data is None:
            return set()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
        return {metric.name for scope in scopes for metric in scope.metrics}


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    """Return fresh providers, without any setting in the environment; nothing stays configured."""
    for name in [name for name in os.environ if name.startswith(("ROP_OTEL_", "OTEL_"))]:
        monkeypatch.delenv(name)
    yield Outside()
    rop.shutdown()


def run(name: str = "qa", *ids: str) -> rop.Assessment:
    """Run a handoff in which d1 is selected and these IDs are shown."""
    with rop.handoff(name) as handoff:
        handoff.select("d1")
        with rop.using_stage("vector") as stage:
            stage.returned(list(ids))
    return handoff.assessment


def test_a_handoff_is_counted_everywhere(outside: Outside) -> None:
    """One FAIL is scraped, exported to OpenTelemetry, written on its span and emitted as an event."""
    port = outside.configure(metrics_port=0)
    assert port
    assert run("qa", "d2").verdict is rop.Verdict.FAIL
    assert value(port, "rop_handoff_verdicts_total", verdict="FAIL", mode="hard") == 1
    assert value(port, "rop_handoff_verdicts_total", verdict="PASS", mode="hard") == 0
    assert value(port, "rop_selected_misses_total", cause="never_retrieved") == 1
    assert {semconv.VERDICTS.name, semconv.STAGE_DURATION.name} <= outside.metric_names()
    (span,) = [span for span in outside.spans.get_finished_spans() if semconv.VERDICT in (span.attributes or {})]
    assert (span.attributes or {})[semconv.VERDICT] == "FAIL"
    assert [event.log_record.event_name for event in outside.events.get_finished_logs()] == [
        semconv.GEN_AI_EVALUATION_EVENT
    ]
    assert outside.events.get_finished_logs()[0].log_record.span_id == span.context.span_id


def test_every_setting_is_passed_on(outside: Outside) -> None:
    """Whatever is given is what is decided: no argument is left out."""
    given: dict[str, Any] = {
        "enabled": False,
        "service_name": "rag",
        "metrics_host": "::1",
        "metrics_port": 0,
        "resolver": rop.Resolver({"d1": ["d1"]}),
        "assess": "monitor",
        "strict": True,
        "hash_key": "k",
        "max_ids": 7,
        "max_id_length": 7,
        "max_id_words": 7,
        "id_line_breaks": True,
        "capture_text": True,
        "max_open": 7,
        "ttl_seconds": 7,
        "max_names": 7,
        "max_stages": 7,
        "citation_pattern": r"\d+",
        "baggage_hosts": "search",
        "openinference": True,
        "id_keys": "source",
        "foreign_stages": "BM25*=lexical",
        "foreign_handoffs": "ask",
        "foreign_selected": "app.page",
        "foreign_labels": "app.labels",
    }
    decided = rop.configure(**given).config
    assert [each.name for each in fields(decided) if getattr(decided, each.name) == each.default] == []


def test_configured_twice_it_counts_once(outside: Outside) -> None:
    """A second call keeps what was counted, the server and its port, and adds no second processor or instrument."""
    port = outside.configure(metrics_port=0)
    assert port
    run()
    assert outside.configure(metrics_port=0, max_ids=5) == port
    run()
    with outside.tracers.get_tracer("x").start_as_current_span("foreign", attributes={semconv.HANDOFF_NAME: "foreign"}):
        pass
    verdicts = samples(port)["rop_handoff_verdicts_total"]
    assert {sample.labels["rop_handoff_name"]: sample.value for sample in verdicts if sample.value} == {
        "qa": 2,
        "foreign": 1,
    }
    names = [span.name for span in outside.spans.get_finished_spans()]
    assert names.count(semconv.SPAN_ASSESSMENT) == 1


def test_another_port_replaces_the_first(outside: Outside) -> None:
    """Configured with another port, the first one is closed."""
    first, second = free_port(), free_port()
    assert outside.configure(metrics_port=first) == first
    assert outside.configure(metrics_port=second) == second
    assert value(second, "rop_self_handoffs_open") == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", first), timeout=60).close()
    assert outside.configure() is None
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", second), timeout=60).close()


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program has."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_in_use_changes_nothing_where_strict(outside: Outside, taken: int) -> None:
    """In strict mode a port that is taken is an error, and the monitor goes on as before."""
    port = outside.configure(metrics_port=0)
    assert port
    with pytest.raises(ConfigurationError, match="metrics_port"):
        outside.configure(metrics_port=taken, strict=True)
    run()
    assert value(port, "rop_stage_executions_total", stage="vector") == 1


def test_a_port_in_use_keeps_no_application_from_starting(
    outside: Outside, taken: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the port is taken, that is logged, and everything but ``/metrics`` works."""
    assert outside.configure(metrics_port=taken) is None
    [warning] = [record for record in caplog.records if record.name == "rop_otel"]
    assert (warning.levelname, f":{taken}" in warning.getMessage()) == ("WARNING", True)
    run()
    assert semconv.STAGE_EXECUTIONS.name in outside.metric_names()


def test_a_port_in_use_leaves_the_one_that_is_served(outside: Outside, taken: int) -> None:
    """Where another port is asked for and taken, the settings are in force and the old port is served on."""
    port = outside.configure(metrics_port=0)
    assert outside.configure(metrics_port=taken, max_ids=1) == port
    assert runtime.current().config.max_ids == 1
    run()
    assert port
    assert value(port, "rop_stage_executions_total", stage="vector") == 1


def test_shutdown_ends_everything(outside: Outside) -> None:
    """After shutdown nothing is served or counted, handoffs are still assessed, and it can begin anew from 0."""
    port = outside.configure(metrics_port=free_port())
    assert port
    run()
    rop.shutdown()
    rop.shutdown()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
    assert semconv.VERDICTS.name not in outside.metric_names()
    assert run("qa", "d1").verdict is rop.Verdict.PASS
    again = outside.configure(metrics_port=0)
    assert again
    assert value(again, "rop_handoff_verdicts_total") is None
    run()
    assert value(again, "rop_handoff_verdicts_total", verdict="FAIL") == 1


def test_after_shutdown_ids_stay_hashed(outside: Outside) -> None:
    """Threads that still work when the monitor is shut down record no raw ID on the application's spans."""
    outside.configure(hash_key="key")
    with rop.handoff("qa", selected="d1") as handoff:
        rop.shutdown()
        with rop.using_stage("vector") as stage:
            stage.returned(["d1"])
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert run("qa", "d1").verdict is rop.Verdict.PASS
    spans = outside.spans.get_finished_spans()
    assert len(spans) == 4
    assert not [span.name for span in spans if '"d1"' in span.to_json()]


def test_after_shutdown_what_was_off_stays_off(outside: Outside) -> None:
    """Where monitoring is switched off, the end of the monitor does not switch it on."""
    outside.configure(enabled=False)
    rop.shutdown()
    assert run("qa", "d1").note == "monitoring is off"


def test_a_given_provider_needs_no_exporter(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which exporter the environment asks for does not matter where a tracer provider is passed."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "one of the application's own")
    outside.configure()
    assert run("qa", "d1").verdict is rop.Verdict.PASS


def test_other_caps_start_anew(outside: Outside) -> None:
    """With another cap on names the counts begin at 0 on the same port, under the new cap."""
    port = outside.configure(metrics_port=0)
    assert port
    run("first")
    assert outside.configure(metrics_port=0, max_names=1) == port
    run("second")
    run("third")
    verdicts = samples(port)["rop_handoff_verdicts_total"]
    assert {sample.labels["rop_handoff_name"] for sample in verdicts} == {"second", "other"}


def test_what_the_application_configured_stays(outside: Outside) -> None:
    """What an instrumentation sets up for itself changes nothing where the application has set up the monitor."""
    port = outside.configure(metrics_port=0, hash_key="k")
    assert port
    configure_once()
    run()
    assert value(port, "rop_handoff_verdicts_total", verdict="FAIL") == 1
    assert runtime.current().config.hash_key == b"k"


def test_what_nobody_configured_is_configured_once(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the application's own set-up the environment decides, as it stands the first time."""
    monkeypatch.setenv(semconv.ENV_MAX_IDS, "7")
    configure_once()
    monkeypatch.setenv(semconv.ENV_MAX_IDS, "8")
    configure_once()
    assert runtime.current().config.max_ids == 7
    assert runtime.current().sinks != ()


def test_what_cannot_be_configured_stops_no_program(
    outside: Outside, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A setting that is none is logged; handoffs are assessed all the same."""
    monkeypatch.setenv(semconv.ENV_METRICS_PORT, "many")
    with caplog.at_level(logging.WARNING, "rop_otel"):
        configure_once()
    assert any(message.startswith("the monitor is not set up: ") for message in caplog.messages)
    assert run("qa", "d1").verdict is rop.Verdict.PASS


def test_switched_off_it_does_nothing(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disabled by the environment, no port is opened, no span made and nothing counted."""
    monkeypatch.setenv(semconv.ENV_DISABLED, "true")
    assert outside.configure(metrics_port=0) is None
    assert run("qa", "d1").verdict is None
    assert outside.spans.get_finished_spans() == ()


def test_where_the_monitor_assesses_nothing_is_counted_here(outside: Outside) -> None:
    """With assess="monitor" spans are emitted, but no verdict is reached in this process."""
    port = outside.configure(metrics_port=0, assess="monitor")
    assert port
    run()
    with outside.tracers.get_tracer("x").start_as_current_span("foreign", attributes={semconv.HANDOFF_NAME: "foreign"}):
        pass
    assert value(port, "rop_handoff_verdicts_total") is None
    assert len(outside.spans.get_finished_spans()) == 3


def test_where_no_span_reaches_a_monitor_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """With assess="monitor" and nobody who records spans, one warning says so, with what to set."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        install = Config.resolve(assess="monitor")
        runtime.install(runtime.Runtime(install, tracer=NoOpTracer()))
        for _ in range(3):
            run()
    [said] = [record.getMessage() for record in caplog.records]
    assert "no monitor sees a handoff" in said
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in said


def test_shutdown_does_not_wait_for_a_hung_exporter(outside: Outside, caplog: pytest.LogCaptureFixture) -> None:
    """An exporter that never comes back holds shutdown for its timeout only, and the log says what may be lost."""
    hung = HungProcessor()
    outside.tracers.add_span_processor(hung)
    outside.configure()
    with caplog.at_level(logging.WARNING, "rop_otel"):
        rop.shutdown(timeout=0.2)
    assert not hung.came_back
    hung.go_on.set()
    assert ["may be lost" in record.message for record in caplog.records if record.name == "rop_otel"] == [True]


class HungProcessor(SpanProcessor):
    """A processor whose flush waits until it is told to go on."""

    def __init__(self) -> None:
        self.go_on = Event()
        self.came_back = False

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Hang."""
        self.go_on.wait(600)
        self.came_back = True
        return True


class BrokenResolver(rop.Resolver):
    """A resolver that raises."""

    def canonical(self, raw: str) -> str:
        """Raise."""
        raise RuntimeError("broken resolver")

    resolve = canonical


def test_a_broken_resolver_stays_inside(outside: Outside) -> None:
    """The application sees its own error, ours is counted, and later processors get every span."""
    port = outside.configure(metrics_port=0, resolver=BrokenResolver({"d1": ["d1"]}))
    later = InMemorySpanExporter()
    outside.tracers.add_span_processor(SimpleSpanProcessor(later))
    assert port

    def application() -> None:
        with rop.handoff("qa") as handoff:
            handoff.select("d1")
            raise ValueError("the application's")

    with pytest.raises(ValueError, match="the application's"):
        application()
    assert value(port, "rop_self_errors_total", where="assess") == 1
    assert [span.name for span in later.get_finished_spans()] == [semconv.SPAN_HANDOFF.format(name="qa")]
    assert runtime.current().ledger.open_count() == 0


def test_a_misspelt_variable_is_logged(
    outside: Outside, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever mistypes a setting's variable reads its name, and nothing else changes."""
    monkeypatch.setenv(f"{semconv.ENV_MAX_IDS}S", "5")
    outside.configure()
    assert runtime.current().config.max_ids == Config().max_ids
    assert caplog.messages == [
        f"the environment variable {semconv.ENV_MAX_IDS}S is no setting; did you mean {semconv.ENV_MAX_IDS}?"
    ]
