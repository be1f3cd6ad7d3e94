"""Everything that the monitor counts, as plain numbers under one lock.

Why plain numbers: one handoff of nine stages brings about 160 scores, and a synchronous record costs 8 µs in the
OpenTelemetry SDK and 0.3 to 1.1 µs in prometheus_client; all of them together cost about 25 µs here. Both readers (the
observables of :mod:`rop_otel.meters.instruments` and the collector behind ``/metrics``) read the same numbers at
export, so they cannot disagree, and series that start at 0 do so on both sides. Only durations go to OpenTelemetry one
by one as well, by :class:`rop_otel.meters.instruments.Recorder`, since it has no observable histogram.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from functools import partial

from rop_otel import semconv
from rop_otel.core.handoff.assessment import Assessment, Drop, DropCause, StageScores, Verdict
from rop_otel.core.handoff.kinds import PACKING, READER
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.sink import Notice
from rop_otel.core.profile.run_status import Standing
from rop_otel.meters.metric_values import NO_STAGE, Capped, mode_label, possible_causes, round_label
from rop_otel.meters.numbers import Exemplar, HandoffNumbers, HistogramNumbers, StageNumbers
from rop_otel.meters.points import POINTS, RUN_POINTS, HistogramPoint, Point, histogram_point, stage_durations
from rop_otel.safety import Turns

_MAX_PLACES = 32
_MAX_FORMS = 8

_NOTICES = {
    semconv.SELF_EXPIRED: Notice.EXPIRED,
    semconv.SELF_REJECTED: Notice.REJECTED,
    semconv.SELF_REFUSED: Notice.REFUSED,
    semconv.SELF_LATE: Notice.LATE,
    semconv.SELF_UNSENT: Notice.UNSENT,
}


class Tally:
    """The sink that adds everything up, and gives it to any number of readers.

    Args:
        max_names: Distinct handoff names to keep; further ones count under ``other``.
        max_stages: Distinct stage kinds to keep, likewise.
        open_count: Returns the number of handoffs that are open now.
        runs: Returns the counts and status of each run now.
        places: Where an error may happen, so that each count starts at 0; further ones are kept too, up to a cap.
    """

    def __init__(
        self,
        *,
        max_names: int = 8,
        max_stages: int = 32,
        open_count: Callable[[], int] = lambda: 0,
        runs: Callable[[], Iterable[Standing]] = tuple,
        places: Iterable[str] = (),
    ) -> None:
        self.names = Capped(max_names)
        self.kinds = Capped(max_stages, reserved=frozenset({semconv.SHOWN}))
        self._named = Capped(max_stages)
        self._forms = Capped(_MAX_FORMS)
        self._places = Capped(_MAX_PLACES)
        self._open_count = open_count
        self._runs = runs
        self._turns = Turns()  # a signal handler or finalizer of this thread may be monitored code
        self._handoffs: dict[str, HandoffNumbers] = {}
        self._notices = dict.fromkeys(Notice, 0)
        self._others = 0
        self._errors = Counter(dict.fromkeys(map(self._places, places), 0))
        self._assess = HistogramNumbers(semconv.SELF_ASSESS_DURATION.buckets)

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Add one assessed handoff; one that is assessed elsewhere (no verdict) adds nothing."""
        if assessment.verdict is not None:
            self._turns.do(partial(self._add, record, assessment, assessment.verdict, seconds))

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Add one notice."""
        self._turns.do(partial(self._add_notice, notice, where))

    def points(self, metric: semconv.Metric) -> list[Point]:
        """Return the series of a counter or gauge as they are now; none for a histogram."""
        if metric is semconv.SELF_OPEN:
            return [Point(values=(), number=self._open_count())]
        if metric in RUN_POINTS:
            return [point for standing in self._runs() for point in RUN_POINTS[metric](standing)]
        with self._turns.lock:
            points = self._points(metric)
        self._turns.settle()
        return points

    def histograms(self, metric: semconv.Metric) -> list[HistogramPoint]:
        """Return the series of a histogram as they are now; none for anything else."""
        with self._turns.lock:
            points = self._histograms(metric)
        self._turns.settle()
        return points

    def _points(self, metric: semconv.Metric) -> list[Point]:
        read = POINTS.get(metric)
        if read is not None:
            return [point for name, handoff in dict(self._handoffs).items() for point in read(name, handoff)]
        if metric is semconv.SELF_ERRORS:
            return [Point(values=(where,), number=count) for where, count in dict(self._errors).items()]
        if metric is semconv.SELF_OTHER:
            return [Point(values=(), number=self._others)]
        if metric in _NOTICES:
            return [Point(values=(), number=self._notices[_NOTICES[metric]])]
        return []

    def _histograms(self, metric: semconv.Metric) -> list[HistogramPoint]:
        if metric is semconv.SELF_ASSESS_DURATION:
            return [histogram_point((), self._assess)]
        if metric is not semconv.STAGE_DURATION:
            return []
        return [point for name, handoff in dict(self._handoffs).items() for point in stage_durations(name, handoff)]

    def _add(self, record: HandoffRecord, assessment: Assessment, verdict: Verdict, seconds: float) -> None:
        name = self.names(record.name)
        handoff = self._handoffs.get(name)
        if handoff is None:
            handoff = self._handoffs[name] = HandoffNumbers()
        self._others += name == semconv.OTHER
        self._assess.add(max(seconds, 0.0))
        self._add_stages(handoff, record)
        self._add_scores(handoff, assessment)
        self._add_outcome(handoff, record, assessment, verdict=verdict)

    def _add_notice(self, notice: Notice, where: str) -> None:
        self._notices[notice] += 1
        if notice is Notice.ERROR:
            self._errors[self._places(where)] += 1

    def _stage(self, handoff: HandoffNumbers, kind: str) -> StageNumbers:
        """Return a stage's numbers; when it is first seen, its losses start at 0."""
        label = self.kinds(kind)
        stage = handoff.stages.get(label)
        if stage is None:
            stage = handoff.stages[label] = StageNumbers()
            for cause in possible_causes(kind):
                handoff.may_miss(label, cause)
        return stage

    def _add_stages(self, handoff: HandoffNumbers, record: HandoffRecord) -> None:
        for ran in record.stages:
            self._stage(handoff, ran.kind).ran(ran, form=self._form(ran.query_form))
            self._others += self.kinds(ran.kind) == semconv.OTHER
            if ran.kind == PACKING and not ran.failed:
                handoff.packed(ran)
            elif ran.kind == READER and ran.abstained is not None:
                handoff.answers[ran.abstained] += 1
        if record.expected != handoff.expected:
            handoff.expected = record.expected
            for declared in record.expected:
                handoff.may_miss(self.kinds(declared), DropCause.UNOBSERVED_STAGE)

    def _add_scores(self, handoff: HandoffNumbers, assessment: Assessment) -> None:
        several = _with_several_names(assessment.stages)
        for scored in assessment.stages:
            stage, round_ = self._one_of(scored.stage, scored.name, several), round_label(scored.round)
            if scored.present is not None:
                handoff.held((stage, round_, self._form(scored.query_form)), present=scored.present)
            handoff.scored((stage, round_), scored.selected, scored.judged)
        handoff.scored((semconv.SHOWN, ""), assessment.shown.selected, assessment.shown.judged)
        for source in assessment.sources:
            handoff.brought(self._one_of(source.stage, source.name, several), source)

    def _one_of(self, kind: str, name: str | None, several: Container[str]) -> str:
        """Return the label of a list: the stage's kind and, where a handoff has several of it, the stage's name."""
        if name is not None and kind in several:
            named = self._named(f"{kind} {name}")
            if named != semconv.OTHER:
                return named
        return self.kinds(kind)

    def _form(self, form: str | None) -> str:
        return self._forms(form) if form else ""

    def _add_outcome(
        self, handoff: HandoffNumbers, record: HandoffRecord, assessment: Assessment, *, verdict: Verdict
    ) -> None:
        handoff.judged(mode_label(assessment.mode), verdict)
        if assessment.drop is not None:
            handoff.missed(self._lost_at(assessment.drop), assessment.drop.cause, _exemplar(record))
        if assessment.judged_losses is not None and record.judged:
            handoff.is_judged = True
            for loss in assessment.judged_losses:
                handoff.lost(self._lost_at(loss.drop), loss.drop.cause)
        if assessment.joint is not None:
            handoff.joined(assessment.joint, agreement=bool(assessment.agreement))
        for finding in assessment.findings:
            handoff.findings[self.kinds(finding.stage), finding.code.value, finding.severity.value] += 1
        handoff.cited(assessment.citations)

    def _lost_at(self, drop: Drop) -> str:
        return NO_STAGE if drop.stage is None else self.kinds(drop.stage)


def _with_several_names(stages: Iterable[StageScores]) -> Container[str]:
    """Return the kinds of which a handoff has stages of different names."""
    names: dict[str, str | None] = {}
    return {each.stage for each in stages if names.setdefault(each.stage, each.name) != each.name}


def _exemplar(record: HandoffRecord) -> Exemplar | None:
    if not record.trace_id:
        return None
    return Exemplar(trace_id=record.trace_id, span_id=record.span_id, time=record.end_ns / 1e9)
