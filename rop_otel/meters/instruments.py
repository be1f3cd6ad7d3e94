"""OpenTelemetry's view of the tally: observables over it, and the durations, which are recorded one by one.

There is no observable histogram, so durations are recorded as they happen. Everything else is observed at export,
exemplars of losses included (an observation may carry a context). Without a meter provider the instruments are
proxies: a record then costs 0.04 µs, and they come to life when a provider is set, also later on. With one, a record
costs 8 µs, which is the price of asking OpenTelemetry for a histogram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation

from rop_otel import semconv
from rop_otel.core.handoff.assessment import Assessment
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.sink import Notice
from rop_otel.meters.metric_values import Capped
from rop_otel.meters.numbers import duration_seconds
from rop_otel.meters.points import Point, attributes_of
from rop_otel.meters.spancontext import context_of
from rop_otel.meters.tally import Tally
from rop_otel.safety import Turns


def observe(meter: Meter, tally: Callable[[], Tally | None]) -> None:
    """Create an observable for every counter and gauge of the tally.

    An SDK keeps an observable for ever, so this is called once for a meter provider; ``tally`` returns the tally in use
    at the time of an export, None where none is.
    """
    for metric in semconv.METRICS:
        if metric.kind == "histogram":
            continue
        create = meter.create_observable_gauge if metric.kind == "gauge" else meter.create_observable_counter
        create(metric.name, callbacks=[_observer(metric, tally)], unit=metric.unit, description=metric.description)


def _observer(
    metric: semconv.Metric, tally: Callable[[], Tally | None]
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observations(_options: CallbackOptions) -> list[Observation]:
        now = tally()
        return [] if now is None else [_observation(metric, point) for point in now.points(metric)]

    return observations


def _observation(metric: semconv.Metric, point: Point) -> Observation:
    attributes = attributes_of(metric, point.values)
    if point.exemplar is None:
        return Observation(point.number, attributes)
    return Observation(point.number, attributes, context_of(point.exemplar.trace_id, point.exemplar.span_id))


class Recorder:
    """The sink that records durations with OpenTelemetry.

    Args:
        meter: Makes the instruments.
        names, kinds: The tally's own labels, so that both readers agree.
    """

    def __init__(self, meter: Meter, *, names: Capped, kinds: Capped) -> None:
        self._names = names
        self._kinds = kinds
        self._duration = _histogram(meter, semconv.STAGE_DURATION)
        self._assess = _histogram(meter, semconv.SELF_ASSESS_DURATION)
        self._attributes: dict[tuple[str, str], Mapping[str, str]] = {}
        self._turns = Turns()  # a histogram of the SDK takes a lock that a signal handler would wait for

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Record one assessed handoff; nothing of one that is assessed elsewhere."""
        if assessment.verdict is not None:
            self._turns.do(partial(self._record, record, seconds))

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Record nothing: notices are counted by the tally."""

    def _record(self, record: HandoffRecord, seconds: float) -> None:
        self._assess.record(max(seconds, 0.0))
        name = self._names(record.name)
        for stage in record.stages:
            if stage.end_ns is not None:
                seconds = duration_seconds(stage.start_ns, stage.end_ns)
                self._duration.record(seconds, self._of_stage(name, self._kinds(stage.kind)))

    def _of_stage(self, name: str, kind: str) -> Mapping[str, str]:
        attributes = self._attributes.get((name, kind))
        if attributes is None:
            values = (name, kind)
            attributes = dict(zip(semconv.STAGE_DURATION.attributes, values, strict=True))
            self._attributes[values] = attributes
        return attributes


def _histogram(meter: Meter, metric: semconv.Metric) -> Histogram:
    return meter.create_histogram(
        metric.name,
        unit=metric.unit,
        description=metric.description,
        explicit_bucket_boundaries_advisory=metric.buckets,
    )
