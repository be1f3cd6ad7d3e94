"""The tally's numbers as series, for both readers.

Each dict is copied, which is one step, before it is gone through: a signal handler or finalizer of the same thread may
be monitored code that adds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.assessment import DropCause
from rop_otel.core.profile.run_status import Standing
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.meters.metric_values import clean
from rop_otel.meters.numbers import Exemplar, HandoffNumbers, HistogramNumbers

_TOLD: Final = frozenset({semconv.ROUND, semconv.QUERY_FORM, semconv.STAGE_IMPLEMENTATION})
"""Attributes that a series has only if a stage reports them."""

_ANSWER_OUTCOMES = ("answered", "abstained")
_CITATION_OUTCOMES = ("resolved", "unresolved", "misattributed", "unattached")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One series of a counter or gauge.

    Args:
        values: Of the metric's attributes, in their order; an empty one is none.
        number: The value now.
        exemplar: One handoff that was counted in it.
    """

    values: tuple[str, ...]
    number: float
    exemplar: Exemplar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramPoint:
    """One series of a histogram.

    Args:
        values: Of the metric's attributes, in their order.
        counts: By bucket, not cumulative, the last one unbounded.
        total: Sum of the observations.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    total: float


def attributes_of(metric: semconv.Metric, values: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes of a series."""
    named = zip(metric.attributes, values, strict=True)
    return {attribute: value for attribute, value in named if value or attribute not in _TOLD}


def histogram_point(values: tuple[str, ...], numbers: HistogramNumbers) -> HistogramPoint:
    """Return a histogram's series as it is now."""
    return HistogramPoint(values=values, counts=tuple(numbers.counts), total=numbers.total)


def stage_durations(name: str, handoff: HandoffNumbers) -> Iterator[HistogramPoint]:
    """Give the duration of each stage of a handoff name."""
    for kind, stage in dict(handoff.stages).items():
        yield histogram_point((name, kind), stage.duration)


def _verdicts(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for mode, counts in dict(handoff.verdicts).items():
        for verdict, count in counts.items():
            yield Point(values=(name, verdict.value, mode), number=count)


def _misses(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for (stage, cause), miss in dict(handoff.misses).items():
        yield Point(values=(name, stage, cause), number=miss.count, exemplar=miss.exemplar)


def _judged_misses(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    if handoff.is_judged:
        for (stage, cause), miss in dict(handoff.misses).items():
            if cause != DropCause.BELOW_CUTOFF:  # a judged object has no cutoff
                yield Point(values=(name, stage, cause), number=miss.judged)


def _joints(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for outcome, count in dict(handoff.joints).items():
        yield Point(values=(name, *outcome), number=count)


def _sources(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for source, counts in dict(handoff.sources).items():
        for only, count in zip(("false", "true"), counts, strict=True):
            yield Point(values=(name, source, only), number=count)


def _answers(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for outcome, count in zip(_ANSWER_OUTCOMES, handoff.answers, strict=True):
        yield Point(values=(name, outcome), number=count)


def _findings(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for key, count in dict(handoff.findings).items():
        yield Point(values=(name, *key), number=count)


def _citations(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for outcome, count in zip(_CITATION_OUTCOMES, handoff.citations, strict=True):
        yield Point(values=(name, outcome), number=count)


def _tokens(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    yield Point(values=(name,), number=handoff.tokens)


def _budget(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    yield Point(values=(name,), number=handoff.budget)


def _selected(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for (stage, *labels), counts in dict(handoff.presence).items():
        for present, count in zip(("false", "true"), counts, strict=True):
            yield Point(values=(name, stage, present, *labels), number=count)


def _returned(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for kind, stage in dict(handoff.stages).items():
        yield Point(values=(name, kind), number=stage.returned)


def _executions(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    for kind, stage in dict(handoff.stages).items():
        for how, count in dict(stage.executions).items():
            yield Point(values=(name, kind, *how), number=count)


def _score_sums(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    return _scores(name, handoff, 0)


def _score_counts(name: str, handoff: HandoffNumbers) -> Iterator[Point]:
    return _scores(name, handoff, 1)


def _scores(name: str, handoff: HandoffNumbers, index: int) -> Iterator[Point]:
    for (stage, round_), scores in dict(handoff.scores).items():
        for target, cells in (("selected", scores.selected), ("judged", scores.judged)):
            for key, cell in dict(cells).items():
                measure, _, depth = key.partition("@")
                yield Point(values=(name, stage, target, measure, depth, round_), number=cell[index])


def _run_records(standing: Standing) -> Iterator[Point]:
    for verdict, count in standing.records.items():
        yield Point(values=(clean(standing.run_id), verdict), number=count)


def _run_status(standing: Standing) -> Iterator[Point]:
    for status in RunStatus:
        yield Point(values=(clean(standing.run_id), status.value), number=int(status is standing.status))


RUN_POINTS: Final[Mapping[semconv.Metric, Callable[[Standing], Iterator[Point]]]] = MappingProxyType(
    {semconv.RUN_RECORDS: _run_records, semconv.RUN_STATUS: _run_status}
)
"""How to read each metric that belongs to a run."""

POINTS: Final[Mapping[semconv.Metric, Callable[[str, HandoffNumbers], Iterator[Point]]]] = MappingProxyType(
    {
        semconv.VERDICTS: _verdicts,
        semconv.MISSES: _misses,
        semconv.JUDGED_MISSES: _judged_misses,
        semconv.JOINTS: _joints,
        semconv.SOURCE_SHOWN: _sources,
        semconv.ANSWERS: _answers,
        semconv.FINDINGS_COUNT: _findings,
        semconv.CITATIONS: _citations,
        semconv.CONTEXT_TOKENS_USED: _tokens,
        semconv.CONTEXT_BUDGET: _budget,
        semconv.STAGE_SELECTED: _selected,
        semconv.STAGE_RETURNED: _returned,
        semconv.STAGE_EXECUTIONS: _executions,
        semconv.STAGE_SCORE: _score_sums,
        semconv.STAGE_SCORED: _score_counts,
    }
)
"""How to read each metric that belongs to a handoff name."""
