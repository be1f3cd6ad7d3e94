"""``/metrics`` from the outside, and its agreement with OpenTelemetry's view."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, NumberDataPoint

from rop_otel import semconv
from rop_otel.core.handoff.assessment import CitationCounts, Drop, DropCause, Joint, JudgedLoss, Shown, SourceShown
from rop_otel.core.handoff.sink import Notice
from rop_otel.errors import ConfigurationError
from rop_otel.export import serving
from rop_otel.export.prometheus import MetricsServer
from rop_otel.meters.instruments import Recorder, observe
from rop_otel.meters.tally import Tally
from tests.export.scraping import OPENMETRICS, fetch, samples, scrape
from tests.grafana.prometheus import free_port
from tests.meters.build import SPAN, TRACE, assessment, failed, finding, handoff, runs, scored, stage

TYPES = {"counter": "counter", "gauge": "gauge", "histogram": "histogram"}

Series = dict[tuple[str, frozenset[tuple[str, str]]], object]


@pytest.fixture
def tally() -> Tally:
    """Return an empty tally with two open handoffs and a run."""
    return Tally(open_count=lambda: 2, runs=runs)


@pytest.fixture
def server(tally: Tally) -> Iterator[MetricsServer]:
    """Serve the tally on a free port."""
    server = MetricsServer(lambda: tally, host="127.0.0.1", port=0)
    yield server
    server.stop()


def fill(*sinks: Tally | Recorder) -> None:
    """Tell sinks of a few handoffs that touch every metric."""
    stages = (
        stage("vector", "d1", "d2", round=1, query_form="title", implementation="flat"),
        stage("mmr", "d2", millis=400),
        stage("packing", "d2", tokens=8, token_budget=9),
    )
    outcomes = (
        assessment(
            findings=(finding(),),
            joint=Joint.SELECTED_ONLY,
            agreement=False,
            judged_losses=(JudgedLoss(id="d3", drop=Drop(cause=DropCause.DIVERSIFIED_AWAY, stage="mmr")),),
            sources=(SourceShown(stage="vector", shown=2, only=1),),
            stages=(
                scored("vector", {"rr": 1.0}, {"recall@5": 0.2}, present=True, round=1, query_form="title"),
                scored("mmr", present=False),
            ),
            shown=Shown(judged={"ndcg@10": 0.25}),
            citations=CitationCounts(resolved=2, misattributed=1),
        ),
        failed(),
        failed(None),
    )
    for sink in sinks:
        for outcome in outcomes:
            sink.assessed(handoff("qa", *stages, expected=("vector", "rerank")), outcome, seconds=0.0003)
        sink.noticed(Notice.ERROR, where="resolver")
        sink.noticed(Notice.LATE)


def test_every_family_is_there_from_the_start(server: MetricsServer) -> None:
    """Before the first handoff each metric already has its name, its type and its help."""
    families = {family.name: family for family in scrape(server.port)}
    assert families.keys() == {metric.prometheus for metric in semconv.METRICS if metric.kind != "counter"} | {
        metric.prometheus.removesuffix("_total") for metric in semconv.METRICS if metric.kind == "counter"
    }
    for metric in semconv.METRICS:
        family = families[metric.prometheus.removesuffix("_total")]
        assert (family.type, family.documentation) == (TYPES[metric.kind], metric.description)


def test_samples_have_the_names_and_labels_of_the_contract(tally: Tally, server: MetricsServer) -> None:
    """Every scraped sample carries exactly its metric's attributes, with underscores."""
    fill(tally)
    found = samples(server.port)
    for metric in semconv.METRICS:
        names = [metric.prometheus]
        if metric.kind == "histogram":
            names = [f"{metric.prometheus}_{part}" for part in ("bucket", "count", "sum")]
        for name in names:
            labels = {key for sample in found[name] for key in sample.labels}
            assert labels - {"le"} == {semconv.label(attribute) for attribute in metric.attributes}
    assert sum(map(len, found.values())) == sum(len(family.samples) for family in scrape(server.port, OPENMETRICS))


def test_score_sums_and_counts_are_scraped(tally: Tally, server: MetricsServer) -> None:
    """Scores of .2 and .9 are scraped as the sum 1.1 and the count 2."""
    for value in (0.2, 0.9):
        outcome = assessment(stages=(scored("vector", judged={"recall@5": value}),))
        tally.assessed(handoff("qa", stage("vector")), outcome, seconds=0.0)
    found = samples(server.port)
    assert [sample.value for sample in found["rop_stage_score_total"]] == [1.1]
    assert [sample.value for sample in found["rop_stage_scored_total"]] == [2.0]


def test_losses_have_exemplars(tally: Tally, server: MetricsServer) -> None:
    """Who asks for OpenMetrics gets the trace and span of the latest loss of each kind; plain text has none."""
    fill(tally)
    assert fetch(server.port, OPENMETRICS)[0].startswith("application/openmetrics-text")
    lost = [sample for sample in samples(server.port, OPENMETRICS)["rop_selected_misses_total"] if sample.value]
    assert len(lost) == 2
    assert [sample.exemplar and sample.exemplar.labels for sample in lost] == [{"trace_id": TRACE, "span_id": SPAN}] * 2
    assert "# {" not in fetch(server.port)[1]


def test_strange_names_do_not_break_a_scrape(tally: Tally, server: MetricsServer) -> None:
    """Quotes, line ends and lone surrogates in names survive both formats."""
    for name in ('a"b', "c\\d\n", "e\udcff"):
        tally.assessed(handoff(name, stage(name, "d1")), assessment(), seconds=0.0)
    for accept in ("text/plain", OPENMETRICS):
        found = {
            sample.labels["rop_handoff_name"] for sample in samples(server.port, accept)["rop_stage_executions_total"]
        }
        assert found == {'a"b', "c\\d\n", "e?"}


def test_both_readers_agree(tally: Tally, server: MetricsServer) -> None:
    """OpenTelemetry and Prometheus give the same series with the same values for every metric."""
    reader = InMemoryMetricReader()
    meter = MeterProvider([reader]).get_meter("test")
    observe(meter, lambda: tally)
    fill(tally, Recorder(meter, names=tally.names, kinds=tally.kinds))
    assert from_prometheus(server.port) == from_opentelemetry(reader)


def test_an_address_in_use_is_said(server: MetricsServer) -> None:
    """A port that something else listens on is named in the error."""
    with pytest.raises(ConfigurationError, match=rf"127\.0\.0\.1:{server.port}"):
        MetricsServer(lambda: None, host="127.0.0.1", port=server.port)


def test_a_stopped_server_frees_its_port(tally: Tally) -> None:
    """After stop() nothing answers on the port, and it can be taken again."""
    first = MetricsServer(lambda: tally, host="127.0.0.1", port=free_port())
    first.stop()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", first.port), timeout=60).close()
    second = MetricsServer(lambda: tally, host="127.0.0.1", port=first.port)
    second.stop()


def from_prometheus(port: int) -> Series:
    """Return every scraped series under its OpenTelemetry name; a label that is empty is none."""
    found = samples(port)
    series: Series = {}
    for metric in semconv.METRICS:
        if metric.kind == "histogram":
            for sample in found[f"{metric.prometheus}_count"]:
                total = next(
                    other.value for other in found[f"{metric.prometheus}_sum"] if other.labels == sample.labels
                )
                buckets = [
                    bucket.value
                    for bucket in found[f"{metric.prometheus}_bucket"]
                    if {**bucket.labels, "le": ""} == {**sample.labels, "le": ""}
                ]
                series[metric.name, _labels(sample.labels)] = (sample.value, pytest.approx(total), buckets)
        else:
            for sample in found[metric.prometheus]:
                series[metric.name, _labels(sample.labels)] = sample.value
    return series


def from_opentelemetry(reader: InMemoryMetricReader) -> Series:
    """Return every exported series, its attributes written as labels and its buckets accumulated."""
    data = reader.get_metrics_data()
    assert data is not None
    series: Series = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            attributes = {semconv.label(key): str(text) for key, text in (point.attributes or {}).items()}
            if isinstance(point, HistogramDataPoint):
                counts = [float(sum(point.bucket_counts[: place + 1])) for place in range(len(point.bucket_counts))]
                series[metric.name, _labels(attributes)] = (float(point.count), point.sum, counts)
            else:
                assert isinstance(point, NumberDataPoint)
                series[metric.name, _labels(attributes)] = float(point.value)
    return series


def _labels(labels: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((key, text) for key, text in labels.items() if text)


@pytest.mark.parametrize("sent", [b"", b"GET /metr"])
def test_silent_connection_is_closed(
    tally: Tally, sent: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A scraper that is gone without closing its connection keeps no thread, and nothing is printed about it.

    What it sends after that, on a slow machine all of it, is answered by a reset.
    """
    monkeypatch.setattr(serving, "_PATIENCE_SECONDS", 0.1)
    server = MetricsServer(lambda: tally, host="127.0.0.1", port=0)
    try:
        with (
            socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection,
            suppress(ConnectionError),
        ):
            connection.sendall(sent)
            assert connection.recv(1) == b""
    finally:
        server.stop()
    assert capfd.readouterr() == ("", "")
