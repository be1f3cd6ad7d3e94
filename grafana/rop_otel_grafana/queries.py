"""What the panels ask for: PromQL over the dashboard's variables, or the name of a recorded ratio."""

from __future__ import annotations

from rop_otel import Verdict, semconv
from rop_otel.core.handoff import kinds
from rop_otel.core.measures import RECALL
from rop_otel_grafana import recording
from rop_otel_grafana.promql import (
    CAUSE,
    DROPPED_AT,
    FINDING,
    FORM,
    HANDOFF,
    IMPLEMENTATION,
    MEASURE,
    OUTCOME,
    RUN,
    STAGE,
    STATUS,
    TARGET,
    VERDICT,
    WHERE,
    K,
    dashed,
    equal,
    handoff_labels,
    of_kind,
    one_of,
    recorded,
    select,
    sum_by,
    sum_increase,
    sum_rate,
)
from rop_otel_grafana.recording import Ratio
from rop_otel_grafana.settings import Settings

_INTERVAL, _RANGE = "$__rate_interval", "$__range"


def _service(settings: Settings) -> str:
    return f'{settings.service_label}=~"$service"'


def _chosen(settings: Settings, *matchers: str) -> tuple[str, ...]:
    return (_service(settings), f'{HANDOFF}=~"$handoff"', *matchers)


def _stage(label: str = STAGE) -> str:
    return f'{label}=~"$stage"'


def _list() -> str:
    """Return the matcher of the chosen stages where the names of several of one kind distinguish them."""
    return f'{STAGE}=~"($stage)( .*)?"'


def share(settings: Settings, kept: Ratio, *matchers: str) -> str:
    """Return a recorded ratio of the chosen services and handoffs."""
    return recorded(kept.over(settings.window), *_chosen(settings, *matchers))


def return_rate(settings: Settings) -> str:
    """Return the share of selected objects that reach the reader."""
    return f"1 - {share(settings, recording.MISS)}"


def decided(settings: Settings) -> str:
    """Return how many handoffs were decided in the shown time."""
    selector = select(settings, semconv.VERDICTS.prometheus, *_chosen(settings, one_of(VERDICT, recording.DECIDED)))
    return f"sum(increase({selector}[{_RANGE}]))"


def losses(settings: Settings) -> str:
    """Return how many selected objects were lost in the shown time."""
    failed = equal(VERDICT, Verdict.FAIL.value)
    return f"sum(increase({select(settings, semconv.VERDICTS.prometheus, *_chosen(settings, failed))}[{_RANGE}]))"


def errors_found(settings: Settings) -> str:
    """Return findings of severity error for each handoff."""
    return share(settings, recording.ERRORS)


def verdicts(settings: Settings) -> str:
    """Return the share of each verdict."""
    return share(settings, recording.VERDICT_SHARE)


def misses(settings: Settings) -> str:
    """Return the losses by stage and cause; counted from the raw series, which has the exemplars."""
    selector = select(settings, semconv.MISSES.prometheus, *_chosen(settings, _stage(DROPPED_AT)))
    return dashed(DROPPED_AT, sum_increase(handoff_labels(settings, DROPPED_AT, CAUSE), selector, _INTERVAL))


def misses_in_range(settings: Settings) -> str:
    """Return the losses of the shown time by stage and cause, largest first."""
    selector = select(settings, semconv.MISSES.prometheus, *_chosen(settings, _stage(DROPPED_AT)))
    lost = f"{sum_increase(handoff_labels(settings, DROPPED_AT, CAUSE), selector, _RANGE)} > 0"
    return f"sort_desc({dashed(DROPPED_AT, lost)})"


def undecided(settings: Settings) -> str:
    """Return the share of handoffs that are neither PASS nor FAIL."""
    return share(settings, recording.UNDECIDED_SHARE)


def judged_misses(settings: Settings) -> str:
    """Return the judged objects that a handoff loses, by stage and cause."""
    return share(settings, recording.JUDGED_MISS, _stage(DROPPED_AT))


def judged_misses_in_range(settings: Settings) -> str:
    """Return the judged objects lost in the shown time by stage and cause, largest first."""
    selector = select(settings, semconv.JUDGED_MISSES.prometheus, *_chosen(settings, _stage(DROPPED_AT)))
    return f"sort_desc({sum_increase(handoff_labels(settings, DROPPED_AT, CAUSE), selector, _RANGE)} > 0)"


def joints(settings: Settings) -> str:
    """Return the share of each joint outcome."""
    return share(settings, recording.JOINT_SHARE)


def answers(settings: Settings) -> str:
    """Return the share of answers and of abstentions."""
    return share(settings, recording.ANSWER)


def survival(settings: Settings) -> str:
    """Return the share of each stage's lists that hold the selected object."""
    return share(settings, recording.SURVIVAL, _list())


def survival_by_form(settings: Settings) -> str:
    """Return the same for each form of the query."""
    return share(settings, recording.SURVIVAL_BY_FORM, _list())


def sources(settings: Settings) -> str:
    """Return how many shown IDs of a handoff each source returned."""
    return share(settings, recording.SOURCE, _list())


def recall_by_round(settings: Settings) -> str:
    """Return the mean recall of each stage by round."""
    return share(settings, recording.RECALL_BY_ROUND, equal(K, "$k"), _list())


def findings(settings: Settings) -> str:
    """Return findings per handoff by stage and code."""
    return share(settings, recording.FINDING_SHARE, _stage())


def found(settings: Settings, *codes: str) -> str:
    """Return findings of some codes per handoff, by stage and code."""
    return share(settings, recording.FINDING_SHARE, _stage(), one_of(FINDING, codes))


def citations(settings: Settings) -> str:
    """Return the share of each outcome of citations."""
    return share(settings, recording.CITATION)


def wrong_citations(settings: Settings) -> str:
    """Return the share of citations that lead to the wrong passage."""
    return share(settings, recording.CITATION, equal(OUTCOME, "misattributed"))


def context(settings: Settings) -> str:
    """Return the used share of the token budget."""
    return share(settings, recording.CONTEXT)


def run_status(settings: Settings) -> str:
    """Return the statuses that runs have now."""
    labels = f"{settings.service_label}, {RUN}, {STATUS}"
    return f"max by ({labels}) ({select(settings, semconv.RUN_STATUS.prometheus, _service(settings))}) == 1"


def run_records(settings: Settings) -> str:
    """Return the records of runs by verdict."""
    labels = f"{settings.service_label}, {RUN}, {VERDICT}"
    return f"max by ({labels}) ({select(settings, semconv.RUN_RECORDS.prometheus, _service(settings))})"


def score(settings: Settings, *, target: str, measure: str, k: str) -> str:
    """Return the mean of a measure at each stage.

    Args:
        settings: The user's settings.
        target: ``selected`` or ``judged``.
        measure: Its name.
        k: Its depth, or a variable of the dashboard; empty for one without.
    """
    matchers = (equal(TARGET, target), equal(MEASURE, measure), equal(K, k))
    return share(settings, recording.SCORE, *matchers, f'{STAGE}=~"($stage)( .*)?|{semconv.SHOWN}"')


def arm_gain(settings: Settings) -> str:
    """Return how much better each arm is than the fusion that it feeds."""
    judged = (equal(MEASURE, RECALL.name), equal(K, "$k"))
    arms = share(settings, recording.SCORE, *judged, of_kind(STAGE, settings.arms))
    fused = share(settings, recording.SCORE, *judged, equal(STAGE, kinds.FUSION))
    return f"{arms}\n- on ({', '.join(handoff_labels(settings, TARGET))}) group_left ()\n{fused}"


def duration(settings: Settings, quantile: float) -> str:
    """Return a quantile of the time that each stage takes."""
    buckets = select(settings, f"{semconv.STAGE_DURATION.prometheus}_bucket", *_chosen(settings, _stage()))
    labels = handoff_labels(settings, STAGE, "le")
    return f"histogram_quantile({quantile:g}, {sum_rate(labels, buckets, _INTERVAL)})"


def executions(settings: Settings) -> str:
    """Return how often each stage runs, per second."""
    return _executions(settings)


def implementations(settings: Settings) -> str:
    """Return how often each implementation of a stage runs, per second."""
    return _executions(settings, IMPLEMENTATION)


def forms(settings: Settings) -> str:
    """Return how often each source looks for a query of each form, per second."""
    return _executions(settings, FORM)


def _executions(settings: Settings, *labels: str) -> str:
    there = (f'{label}!=""' for label in labels)
    selector = select(settings, semconv.STAGE_EXECUTIONS.prometheus, *_chosen(settings, _stage(), *there))
    return sum_rate(handoff_labels(settings, STAGE, *labels), selector, _INTERVAL)


def returned(settings: Settings) -> str:
    """Return the mean length of each stage's list."""
    return share(settings, recording.RETURNED, _stage())


def assessed(settings: Settings) -> str:
    """Return how many handoffs are assessed per second."""
    selector = select(settings, semconv.VERDICTS.prometheus, *_chosen(settings))
    return sum_rate(handoff_labels(settings), selector, _INTERVAL)


def open_handoffs(settings: Settings) -> str:
    """Return how many handoffs are open now."""
    return sum_by((settings.service_label,), select(settings, semconv.SELF_OPEN.prometheus, _service(settings)))


def noticed(settings: Settings, metric: semconv.Metric) -> str:
    """Return how much of something the monitor counted about itself."""
    selector = select(settings, metric.prometheus, _service(settings))
    return sum_increase((settings.service_label,), selector, _INTERVAL)


def monitor_errors(settings: Settings) -> str:
    """Return the monitor's own errors by place."""
    selector = select(settings, semconv.SELF_ERRORS.prometheus, _service(settings))
    return sum_increase((settings.service_label, WHERE), selector, _INTERVAL)


def errors_in_range(settings: Settings) -> str:
    """Return the monitor's own errors in the shown time."""
    return f"sum(increase({select(settings, semconv.SELF_ERRORS.prometheus, _service(settings))}[{_RANGE}]))"


def assessing(settings: Settings, quantile: float) -> str:
    """Return a quantile of the time that one assessment takes."""
    buckets = select(settings, f"{semconv.SELF_ASSESS_DURATION.prometheus}_bucket", _service(settings))
    return f"histogram_quantile({quantile:g}, {sum_rate((settings.service_label, 'le'), buckets, _INTERVAL)})"


def series(settings: Settings) -> str:
    """Return how many series of losses, the widest metric of handoffs, each service has."""
    return f"count by ({settings.service_label}) ({select(settings, semconv.MISSES.prometheus, _service(settings))})"


def label_values(settings: Settings, metric: semconv.Metric, label: str, *matchers: str) -> str:
    """Return the query of a variable that offers a label's values."""
    return f"label_values({select(settings, metric.prometheus, *matchers)}, {label})"
