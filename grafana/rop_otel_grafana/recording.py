"""Recording rules: every ratio that a panel or an alert uses, with its name.

A name says the labels that are kept, what is recorded, and how: ``level:what:operation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rop_otel import Verdict, semconv
from rop_otel.core.measures import RECALL
from rop_otel_grafana.promql import (
    AGREEMENT,
    CAUSE,
    DROPPED_AT,
    FINDING,
    FORM,
    JOINT,
    MEASURE,
    ONLY,
    OUTCOME,
    PRESENT,
    ROUND,
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


UNDECIDED = tuple(verdict.value for verdict in Verdict if verdict not in (*DECIDED, Verdict.NOT_APPLICABLE))
"""The verdicts of handoffs of which that was asked, and which say neither."""


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


def _undecided(settings: Settings, window: Duration) -> str:
    series, labels = semconv.VERDICTS.prometheus, handoff_labels(settings)
    undecided = sum_rate(labels, select(settings, series, one_of(VERDICT, UNDECIDED)), window)
    return ratio(undecided, sum_rate(labels, select(settings, series, one_of(VERDICT, (*DECIDED, *UNDECIDED))), window))


def _judged_miss(settings: Settings, window: Duration) -> str:
    lost = sum_rate(
        handoff_labels(settings, DROPPED_AT, CAUSE), select(settings, semconv.JUDGED_MISSES.prometheus), window
    )
    return ratio(lost, sum_rate(handoff_labels(settings), judged_lists(settings), window), on=handoff_labels(settings))


def judged_lists(settings: Settings) -> str:
    """Return the selector of the shown lists that were scored against judged objects, each counted once."""
    deepest = (equal(TARGET, "judged"), equal(MEASURE, RECALL.name), equal(K, str(RECALL.ks[-1])))
    return select(settings, semconv.STAGE_SCORED.prometheus, equal(STAGE, semconv.SHOWN), *deepest)


def _joint(settings: Settings, window: Duration) -> str:
    selector = select(settings, semconv.JOINTS.prometheus)
    each = sum_rate(handoff_labels(settings, JOINT, AGREEMENT), selector, window)
    return ratio(each, sum_rate(handoff_labels(settings), selector, window), on=handoff_labels(settings))


def _source(settings: Settings, window: Duration) -> str:
    shown = sum_rate(handoff_labels(settings, STAGE, ONLY), select(settings, semconv.SOURCE_SHOWN.prometheus), window)
    return ratio(shown, _assessed(settings, window), on=handoff_labels(settings))


def _answer(settings: Settings, window: Duration) -> str:
    selector = select(settings, semconv.ANSWERS.prometheus)
    each = sum_rate(handoff_labels(settings, OUTCOME), selector, window)
    return ratio(each, sum_rate(handoff_labels(settings), selector, window), on=handoff_labels(settings))


def _survival(settings: Settings, window: Duration) -> str:
    return _held(settings, window, STAGE)


def _survival_by_form(settings: Settings, window: Duration) -> str:
    return _held(settings, window, STAGE, FORM, matchers=(f'{FORM}!=""',))


def _held(settings: Settings, window: Duration, *by: str, matchers: tuple[str, ...] = ()) -> str:
    labels, series = handoff_labels(settings, *by), semconv.STAGE_SELECTED.prometheus
    held = sum_rate(labels, select(settings, series, equal(PRESENT, "true"), *matchers), window)
    return ratio(held, sum_rate(labels, select(settings, series, *matchers), window))


def _score(settings: Settings, window: Duration) -> str:
    return _mean(settings, window, STAGE, TARGET, MEASURE, K)


def _recall_by_round(settings: Settings, window: Duration) -> str:
    matchers = (equal(MEASURE, RECALL.name), f'{ROUND}!=""')
    return _mean(settings, window, STAGE, TARGET, K, ROUND, matchers=matchers)


def _mean(settings: Settings, window: Duration, *by: str, matchers: tuple[str, ...] = ()) -> str:
    labels = handoff_labels(settings, *by)
    score = sum_rate(labels, select(settings, semconv.STAGE_SCORE.prometheus, *matchers), window)
    return ratio(score, sum_rate(labels, select(settings, semconv.STAGE_SCORED.prometheus, *matchers), window))


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

UNDECIDED_SHARE = Ratio(level="service_handoff", what="rop_handoff_undecided", expression=_undecided)
"""Share of handoffs that are neither PASS nor FAIL, of those to which these verdicts apply."""

JUDGED_MISS = Ratio(
    level="service_handoff_stage_cause", what="rop_judged_miss", operation="mean_rate", expression=_judged_miss
)
"""Mean number of judged objects that a handoff with judged objects loses, by the stage and cause of the loss."""

JOINT_SHARE = Ratio(level="service_handoff_joint", what="rop_handoff_joint", expression=_joint)
"""Share of each joint outcome, of the handoffs with both targets."""

SOURCE = Ratio(level="service_handoff_stage_only", what="rop_source_shown", operation="mean_rate", expression=_source)
"""Mean number of shown IDs of a handoff that a source returned, by whether no other source did."""

ANSWER = Ratio(level="service_handoff_outcome", what="rop_answers", expression=_answer)
"""Share of answers with each outcome."""

SURVIVAL_BY_FORM = Ratio(level="service_handoff_stage_form", what="rop_stage_survival", expression=_survival_by_form)
"""Share of a source's lists that hold the selected object, by the form of the query."""

RECALL_BY_ROUND = Ratio(
    level="service_handoff_stage_round", what="rop_stage_recall", operation="mean_rate", expression=_recall_by_round
)
"""Mean recall of a stage's lists by round."""

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
        "rop-undecided": (UNDECIDED_SHARE, (shown, settings.undecided.window)),
        "rop-judged": (JUDGED_MISS, (shown, settings.judged.window)),
        "rop-joint": (JOINT_SHARE, (shown,)),
        "rop-sources": (SOURCE, (shown,)),
        "rop-answers": (ANSWER, (shown,)),
        "rop-survival": (SURVIVAL, (shown,)),
        "rop-forms": (SURVIVAL_BY_FORM, (shown,)),
        "rop-rounds": (RECALL_BY_ROUND, (shown,)),
        "rop-scores": (SCORE, (shown, settings.recall.window)),
        "rop-returned": (RETURNED, (shown,)),
        "rop-citations": (CITATION, (shown, settings.misattributed.window, settings.unresolved.window)),
        "rop-context": (CONTEXT, (shown,)),
        "rop-errors": (ERRORS, (shown,)),
        "rop-findings": (FINDING_SHARE, (shown, *(watch.window for watch in settings.finding_watches))),
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
