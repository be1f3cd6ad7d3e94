"""One tally, two ways: what /metrics shows, the collector shows too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rop_otel import semconv
from tests.collector.collector import collector
from tests.collector.sending import program
from tests.export.scraping import OPENMETRICS, samples
from tests.grafana.prometheus import until

APPLICATION = Path(__file__).with_name("both_ways.py")
SHOWN = [metric for metric in semconv.METRICS if semconv.RUN_ID not in metric.attributes]
FROM_RESOURCE = {"job", "instance"}

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def ours(port: int) -> Values:
    """Return the values of our series by name and labels, without what Prometheus would know from its target."""
    return {
        (name, labels(sample.labels)): sample.value
        for name, series in samples(port).items()
        for sample in series
        if name.startswith("rop_")
    }


def labels(found: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return labels in order; bucket bounds as numbers are written in one way."""
    kept = {name: value for name, value in found.items() if name not in FROM_RESOURCE}
    return tuple(sorted((name, str(float(value)) if name == "le" else value) for name, value in kept.items()))


def test_both_ways_show_the_same(tmp_path: Path) -> None:
    """Names, labels and values scraped from the application and from the collector behind OTLP are equal."""
    with collector(tmp_path / "collector") as running, program(APPLICATION, endpoint=running.endpoint) as application:
        port = application.ask("go")
        direct = ours(port)
        assert {name for name, _ in direct} >= {metric.prometheus for metric in SHOWN if metric.kind != "histogram"}
        until(lambda: different(direct, running.metrics) == {}, within=120, what="equal values")
        assert application.ask("again") == port
        more = ours(port)
        assert more != direct
        until(lambda: different(more, running.metrics) == {}, within=120, what="equal values again")


def test_the_gateway_counts_spans_and_events(tmp_path: Path) -> None:
    """A gateway makes calls and durations by handoff and stage of the spans, and counts the events of each kind."""
    layers = ("agent.yaml", "gateway.yaml", "backends.yaml", "extras.yaml")
    with collector(tmp_path / "gateway", layers) as running, program(APPLICATION, endpoint=running.endpoint) as sending:
        sending.ask("go")

        def counted(name: str, **wanted: str) -> float:
            found = samples(running.metrics).get(name, [])
            return sum(sample.value for sample in found if wanted.items() <= sample.labels.items())

        calls, durations = "traces_span_metrics_calls_total", "traces_span_metrics_duration_milliseconds_count"
        until(lambda: counted(calls, rop_handoff_name="docs") == 10, within=120, what="calls by handoff")
        until(lambda: counted(calls, rop_stage="fusion") == 10, within=120, what="calls by stage")
        until(lambda: counted(durations, rop_stage="packing") == 10, within=120, what="durations by stage")
        failed = {"gen_ai_evaluation_name": semconv.VERDICT, "gen_ai_evaluation_score_label": "FAIL"}
        until(lambda: counted("evaluation_events_total", **failed) == 4, within=120, what="events")


def test_odd_names_stay_bounded(tmp_path: Path) -> None:
    """A name with quotes and newlines, and ten thousand kinds of stages, come out alike both ways, and few."""
    with collector(tmp_path / "collector") as running, program(APPLICATION, endpoint=running.endpoint) as application:
        direct = ours(application.ask("odd"))
        kinds = {dict(found).get(semconv.label(semconv.STAGE)) for _, found in direct}
        assert semconv.OTHER in kinds
        assert len(kinds) < 40
        until(lambda: different(direct, running.metrics) == {}, within=120, what="equal values")


def different(direct: Values, port: int) -> dict[object, tuple[float, float]]:
    """Return where two ways differ; sums of times are added up in another order."""
    through = ours(port)
    pairs = {series: (direct.get(series, -1), through.get(series, -1)) for series in direct.keys() | through.keys()}
    return {series: pair for series, pair in pairs.items() if pair[0] != pytest.approx(pair[1], rel=1e-9)}


def test_losses_carry_their_trace(tmp_path: Path) -> None:
    """The exemplar of a loss, which leads from a panel to the trace, passes through OTLP too."""
    with collector(tmp_path / "collector") as running, program(APPLICATION, endpoint=running.endpoint) as application:
        application.ask("go")

        def exemplars() -> list[Any]:
            series = samples(running.metrics, OPENMETRICS).get(semconv.MISSES.prometheus, [])
            return [sample.exemplar for sample in series if sample.exemplar]

        [exemplar] = until(exemplars, within=120, what="an exemplar")
        assert len(exemplar.labels["trace_id"]) == 32


def test_failures_arrive_as_events(tmp_path: Path) -> None:
    """Each FAIL and each finding of severity error is an event in the collector's file, in its handoff's trace."""
    with collector(tmp_path / "collector") as running, program(APPLICATION, endpoint=running.endpoint) as application:
        application.ask("go")
        until(lambda: failures(events(running.events)) == 4, within=120, what="an event for each FAIL")
    records = events(running.events)
    assert {record["eventName"] for record in records} == {semconv.GEN_AI_EVALUATION_EVENT}
    assert failures(records) == 4
    assert {len(record["traceId"]) for record in records} == {32}


def events(file: Path) -> list[dict[str, Any]]:
    """Return the events in a file that the collector writes, of whose last line it may have written a part."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [
        record
        for line in lines
        if line.endswith(b"\n")
        for resource in json.loads(line)["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def failures(records: list[dict[str, Any]]) -> int:
    """Return how many events tell of a FAIL."""
    told = {"key": semconv.GEN_AI_EVALUATION_LABEL, "value": {"stringValue": "FAIL"}}
    return sum(told in record["attributes"] for record in records)
