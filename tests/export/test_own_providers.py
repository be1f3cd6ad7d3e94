"""Providers made as the environment asks, where nobody has set any up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.resources import Resource

from rop_otel import semconv
from rop_otel.errors import ConfigurationError
from rop_otel.export import metric_reader, providers
from rop_otel.export.exporter_settings import exporters_asked_for
from tests.export.receiving import PATIENT, Endpoint

FAILING = """
import rop_otel as rop

rop.configure(service_name="docs-rag")
with rop.handoff("qa") as handoff:
    handoff.select("d1")
    with rop.using_stage("vector") as stage:
        stage.returned(["d2"])
"""


def run(program: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program with these variables and none of the tests'."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ROP_OTEL_"))}
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(
        command, env={**others, **environment}, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize(
    ("environ", "asked"),
    [
        ({}, ()),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, ("otlp",)),
        ({"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, ()),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:4318/v1/metrics"}, ("otlp",)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, ("otlp",)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, ()),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, ()),
        ({"OTEL_METRICS_EXPORTER": "prometheus,console"}, ("console",)),
    ],
)
def test_the_environment_asks(environ: Mapping[str, str], asked: tuple[str, ...]) -> None:
    """A signal's own variables decide for it, and the general endpoint stands in."""
    assert exporters_asked_for("metrics", environ) == asked


def test_an_unknown_exporter_is_named() -> None:
    """The message names variable and value."""
    with pytest.raises(ConfigurationError, match=r"OTEL_LOGS_EXPORTER asks for 'syslog'.*logger_provider"):
        exporters_asked_for("logs", {"OTEL_LOGS_EXPORTER": "syslog"})


@pytest.mark.parametrize("ending", ["", "rop.shutdown(timeout=300)"])
def test_one_endpoint_takes_every_signal(ending: str) -> None:
    """A process that ends, with shutdown or without, has sent spans, metrics and events of one and the same origin."""
    with Endpoint() as endpoint:
        ended = run(PATIENT + FAILING + ending, endpoint.variables)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert set(endpoint.bodies) == {"/v1/traces", "/v1/metrics", "/v1/logs"}
    sent = [ExportMetricsServiceRequest.FromString(body).resource_metrics[0] for body in endpoint.bodies["/v1/metrics"]]
    logs = ExportLogsServiceRequest.FromString(endpoint.bodies["/v1/logs"][0]).resource_logs[0]
    assert all(metrics.resource == logs.resource for metrics in sent)
    assert semconv.VERDICTS.name in {metric.name for metrics in sent for metric in metrics.scope_metrics[0].metrics}
    assert [record.event_name for record in logs.scope_logs[0].log_records] == [semconv.GEN_AI_EVALUATION_EVENT]


def test_what_the_application_set_up_is_used() -> None:
    """With providers of the application's own, none is made beside them, whatever the environment asks for."""
    program = """
from opentelemetry import metrics, _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
_logs.set_logger_provider(LoggerProvider())
"""
    check = """
assert reader.get_metrics_data().resource_metrics
"""
    ended = run(program + FAILING + check, {"OTEL_METRICS_EXPORTER": "carrier pigeon", "OTEL_LOGS_EXPORTER": "drum"})
    assert (ended.returncode, ended.stderr) == (0, "")


class NotedReader(metric_reader.PeriodicReader):
    """A reader that notes how often it is to export."""

    noted: float | None = None

    def __init__(self, exporter: MetricExporter, interval_ms: float | None) -> None:
        NotedReader.noted = interval_ms
        super().__init__(exporter, interval_ms)


@pytest.mark.parametrize(("said", "interval"), [(None, 15_000), (" ", 15_000), ("1000", None)])
def test_metrics_are_exported_as_often_as_the_alerts_need(
    monkeypatch: pytest.MonkeyPatch, said: str | None, interval: int | None
) -> None:
    """Every 15 seconds, unless the environment says otherwise, which OpenTelemetry then reads itself."""
    monkeypatch.setattr(metric_reader, "PeriodicReader", NotedReader)
    monkeypatch.delenv("OTEL_METRIC_EXPORT_INTERVAL", raising=False)
    if said is not None:
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", said)
    made = providers.create_meters(Resource({}), ("console",))
    made.shutdown()
    assert NotedReader.noted == interval
