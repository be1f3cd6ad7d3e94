"""Recording rules: every ratio that a panel or an alert uses, with its name.

A name says the labels that are kept, what is recorded, and how: ``level:what:operation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rop_otel import Verdict, semconv
from rop_otel_grafana.promql import (
    CAUSE,
    DROPPED_AT,
    FINDING,
    MEASURE,
    OUTCOME,
    PRESENT,
    SEVERITY,
    STAGE,
    TARGET,
    VERDICT,
    K,
    equal,
    handoff_labels,
    one_of,
    ratio,
    select,
    sum_rate,
)
from rop_otel_grafana.settings import Duration, Settings, seconds

DECIDED = (Verdict.PASS.value, Verdict.FAIL.value)
"""The verdicts of handoffs whose selected object certainly did or did not reach the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One recorded ratio.

    Args:
        level, what: Labels that are kept, and what is recorded, as its name says them.
        operation: How; the window is appended.
        expression: Gives the PromQL over a window.
    """

    level: str
    what: str
    operation: str = "ratio_rate"
    expression: Callable[[Settings, Duration], str]

    def over(self, window: Duration) -> str:
        """Return the name of the recorded series."""
        return f"{self.level}:{self.what}:{self.operation}{window}"


def _decided(settings: Settings, window: Duration) -> str:
    selector = select(settings, semconv.VERDICTS.prometheus, one_of(VERDICT, DECIDED))
    return sum_rate(handoff_labels(settings), selector, window)


def _assessed(settings: Settings, window: Duration) -> str:
    return sum_rate(handoff_labels(settings), select(settings, semconv.VERDICTS.prometheus), window)


def _miss(settings: Settings, window: Duration) -> str:
    failed = select(settings, semconv.VERDICTS.prometheus, equal(VERDICT, Verdict.FAIL.value))
    return ratio(sum_rate(handoff_labels(settings), failed, window), _decided(settings, window))


def _miss_by_cause(settings: Settings, window: Duration) -> str:
    labels = handoff_labels(settings, DROPPED_AT, CAUSE)
    lost = sum_rate(labels, select(settings, semconv.MISSES.prometheus), window)
    return ratio(lost, _decided(settings, window), on=handoff_labels(settings))


def _verdict(settings: Settings, window: Duration) -> str:
    each = sum_rate(handoff_labels(settings, VERDICT), select(settings, semconv.VERDICTS.prometheus), window)
    return ratio(each, _assessed(settings, window), on=handoff_labels(settings))


def _survival(settings: Settings, window: Duration) -> str:
    labels, series = handoff_labels(settings, STAGE), semconv.STAGE_SELECTED.prometheus
    held = sum_rate(labels, select(settings, series, equal(PRESENT, "true")), window)
    return ratio(held, sum_rate(labels, select(settings, series), window))


def _score(settings: Settings, window: Duration) -> str:
    labels = handoff_labels(settings, STAGE, TARGET, MEASURE, K)
    score = sum_rate(labels, select(settings, semconv.STAGE_SCORE.prometheus), window)
    return ratio(score, sum_rate(labels, select(settings, semconv.STAGE_SCORED.prometheus), window))


def _returned(settings: Settings, window: Duration) -> str:
    labels = handoff_labels(settings, STAGE)
    ids = sum_rate(labels, select(settings, semconv.STAGE_RETURNED.prometheus), window)
    return ratio(ids, sum_rate(labels, select(settings, semconv.STAGE_EXECUTIONS.prometheus), window))


def _citation(settings: Settings, window: Duration) -> str:
    selector = select(settings, semconv.CITATIONS.prometheus)
    each = sum_rate(handoff_labels(settings, OUTCOME), selector, window)
    return ratio(each, sum_rate(handoff_labels(settings), selector, window), on=handoff_labels(settings))


def _context(settings: Settings, window: Duration) -> str:
    labels = handoff_labels(settings)
    used = sum_rate(labels, select(settings, semconv.CONTEXT_TOKENS_USED.prometheus), window)
    return ratio(used, sum_rate(labels, select(settings, semconv.CONTEXT_BUDGET.prometheus), window))


def _finding(settings: Settings, window: Duration) -> str:
    labels = handoff_labels(settings, STAGE, FINDING, SEVERITY)
    found = sum_rate(labels, select(settings, semconv.FINDINGS_COUNT.prometheus), window)
    return ratio(found, _assessed(settings, window), on=handoff_labels(settings))


def _errors(settings: Settings, window: Duration) -> str:
    error = select(settings, semconv.FINDINGS_COUNT.prometheus, equal(SEVERITY, "error"))
    found, assessed = sum_rate(handoff_labels(settings), error, window), _assessed(settings, window)
    return ratio(f"({found}\nor\n0 * {assessed})", assessed)


MISS = Ratio(level="service_handoff", what="rop_selected_miss", expression=_miss)
"""Share of selected objects lost, of those for which that is certain."""

MISS_BY_CAUSE = Ratio(level="service_handoff_stage_cause", what="rop_selected_miss", expression=_miss_by_cause)
"""The same, by the stage and cause of the loss."""

VERDICT_SHARE = Ratio(level="service_handoff_verdict", what="rop_handoff_verdicts", expression=_verdict)
"""Share of handoffs with each verdict."""

SURVIVAL = Ratio(level="service_handoff_stage", what="rop_stage_survival", expression=_survival)
"""Share of a stage's lists that hold the selected object."""

SCORE = Ratio(level="service_handoff_stage_measure", what="rop_stage_score", operation="mean_rate", expression=_score)
"""Mean of a measure over a stage's lists."""

RETURNED = Ratio(level="service_handoff_stage", what="rop_stage_returned", operation="mean_rate", expression=_returned)
"""Mean number of IDs that a stage returns."""

CITATION = Ratio(level="service_handoff_outcome", what="rop_citations", expression=_citation)
"""Share of citations with each outcome."""

CONTEXT = Ratio(level="service_handoff", what="rop_context_use", expression=_context)
"""Share of the token budget that packing uses."""

FINDING_SHARE = Ratio(level="service_handoff_stage_finding", what="rop_findings", expression=_finding)
"""Findings per handoff."""

ERRORS = Ratio(level="service_handoff", what="rop_error_findings", expression=_errors)
"""Findings of severity error per handoff; 0 where handoffs are assessed and none is found, nothing where none are."""


def windows(settings: Settings) -> dict[str, tuple[Ratio, Sequence[Duration]]]:
    """Return what is recorded over which windows, by the name of its rule group."""
    shown, fast, slow = settings.window, settings.fast, settings.slow
    return {
        "rop-selected": (MISS, (shown, fast.short, fast.long, slow.short, slow.long)),
        "rop-causes": (MISS_BY_CAUSE, (shown, fast.short, slow.short)),
        "rop-verdicts": (VERDICT_SHARE, (shown,)),
        "rop-survival": (SURVIVAL, (shown,)),
        "rop-scores": (SCORE, (shown, settings.recall.window)),
        "rop-returned": (RETURNED, (shown,)),
        "rop-citations": (CITATION, (shown, settings.misattributed.window, settings.unresolved.window)),
        "rop-context": (CONTEXT, (shown,)),
        "rop-errors": (ERRORS, (shown,)),
        "rop-findings": (FINDING_SHARE, (shown, settings.starved.window, settings.fallback.window)),
    }


def groups(settings: Settings) -> list[dict[str, object]]:
    """Return the groups of recording rules."""
    return [
        {"name": name, "interval": settings.interval, "rules": list(_rules(settings, recorded, spans))}
        for name, (recorded, spans) in windows(settings).items()
    ]


def _rules(settings: Settings, recorded: Ratio, spans: Sequence[Duration]) -> Iterator[dict[str, object]]:
    for window in sorted(set(spans), key=seconds):
        yield {"record": recorded.over(window), "expr": recorded.expression(settings, window)}
