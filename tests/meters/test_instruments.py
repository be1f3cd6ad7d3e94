"""OpenTelemetry's view of the tally."""

from __future__ import annotations

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, Metric, NumberDataPoint

from rop_otel import semconv
from rop_otel.core.handoff.assessment import Shown
from rop_otel.core.handoff.sink import Notice
from rop_otel.meters.instruments import Recorder, observe
from rop_otel.meters.tally import Tally
from tests.meters.build import SPAN, TRACE, assessment, failed, full, handoff, runs, scored, stage


class Meters:
    """A tally with its OpenTelemetry reader, on a provider of its own."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        provider = MeterProvider([self.reader])
        meter = provider.get_meter("test")
        self.tally: Tally | None = Tally(runs=runs)
        observe(meter, lambda: self.tally)
        self.sinks = (self.tally, Recorder(meter, names=self.tally.names, kinds=self.tally.kinds))

    def export(self) -> dict[str, Metric]:
        """Return what an exporter would get, by name."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            metric.name: metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def numbers(self, metric: semconv.Metric) -> list[NumberDataPoint]:
        """Return the exported points of a counter or gauge."""
        points = self.export()[metric.name].data.data_points
        return [point for point in points if isinstance(point, NumberDataPoint)]


def test_names_units_and_kinds_are_those_of_the_contract() -> None:
    """Every exposed metric is exported under its name, with its unit and description."""
    meters = Meters()
    for sink in meters.sinks:
        sink.assessed(handoff("qa", stage("packing", "d1")), full(), seconds=0.0)
        sink.noticed(Notice.ERROR, where="x")
    exported = meters.export()
    assert exported.keys() == {metric.name for metric in semconv.METRICS}
    for metric in semconv.METRICS:
        assert (exported[metric.name].unit, exported[metric.name].description) == (metric.unit, metric.description)


def test_only_durations_are_histograms_with_their_buckets() -> None:
    """The advised buckets are in force without any view."""
    meters = Meters()
    for sink in meters.sinks:
        sink.assessed(handoff("qa", stage("mmr", millis=3), stage("mmr", end_ns=None)), assessment(), seconds=0.0002)
    exported = meters.export()
    for metric, values in ((semconv.STAGE_DURATION, ("qa", "mmr")), (semconv.SELF_ASSESS_DURATION, ())):
        (point,) = exported[metric.name].data.data_points
        assert isinstance(point, HistogramDataPoint)
        assert point.attributes == dict(zip(metric.attributes, values, strict=True))
        assert (tuple(point.explicit_bounds), point.count) == (metric.buckets, 1)


def test_a_loss_has_an_exemplar() -> None:
    """The exported loss points to the handoff's trace and span."""
    meters = Meters()
    for sink in meters.sinks:
        sink.assessed(handoff("qa", stage("mmr")), failed(), seconds=0.0)
    points = [point for point in meters.numbers(semconv.MISSES) if point.value]
    assert [point.attributes for point in points] == [
        {semconv.HANDOFF_NAME: "qa", semconv.DROPPED_AT: "mmr", semconv.DROP_CAUSE: "diversified_away"}
    ]
    (exemplar,) = points[0].exemplars
    assert (exemplar.trace_id, exemplar.span_id) == (int(TRACE, 16), int(SPAN, 16))


def test_another_tally_takes_over() -> None:
    """The observables read whichever tally is in use, and nothing where none is."""
    meters = Meters()
    for sink in meters.sinks:
        sink.assessed(handoff("old"), assessment(), seconds=0.0)
    meters.tally = Tally()
    meters.tally.assessed(handoff("new"), assessment(shown=Shown(judged={"rr": 1.0})), seconds=0.0)
    assert {(point.attributes or {})[semconv.HANDOFF_NAME] for point in meters.numbers(semconv.STAGE_SCORE)} == {"new"}
    meters.tally = None
    assert semconv.STAGE_SCORE.name not in meters.export()


def test_a_handoff_assessed_elsewhere_records_nothing() -> None:
    """Without a verdict no duration is recorded."""
    meters = Meters()
    meters.sinks[1].assessed(handoff("qa", stage("mmr")), assessment(None), seconds=0.0)
    assert semconv.STAGE_DURATION.name not in meters.export()


def test_what_no_stage_told_is_no_attribute() -> None:
    """Round, form of the query and implementation are attributes only where a stage told them."""
    meters = Meters()
    stages = (stage("vector", "d1", query_form="title", implementation="flat"), stage("mmr", "d1"))
    outcome = assessment(
        stages=(scored("vector", present=True, round=2, query_form="title"), scored("mmr", present=True))
    )
    for sink in meters.sinks:
        sink.assessed(handoff("qa", *stages), outcome, seconds=0.0)
    ran = [dict(point.attributes or {}) for point in meters.numbers(semconv.STAGE_EXECUTIONS)]
    place = {semconv.HANDOFF_NAME: "qa", semconv.STAGE: "vector", semconv.QUERY_FORM: "title"}
    assert ran == [{**place, semconv.STAGE_IMPLEMENTATION: "flat"}, {semconv.HANDOFF_NAME: "qa", semconv.STAGE: "mmr"}]
    held = [dict(point.attributes or {}) for point in meters.numbers(semconv.STAGE_SELECTED)]
    assert {**place, semconv.PRESENT: "true", semconv.ROUND: "2"} in held
    assert {semconv.HANDOFF_NAME: "qa", semconv.STAGE: "mmr", semconv.PRESENT: "true"} in held
