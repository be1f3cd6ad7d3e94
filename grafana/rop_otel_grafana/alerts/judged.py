"""``JudgedEvidenceLost``: more of the evidence that questions need is lost at a stage than the day before."""

from __future__ import annotations

from rop_otel import DropCause, semconv
from rop_otel.core.handoff import Joint
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, lost_at, subject, value_of
from rop_otel_grafana.alerts.selected import cause_line
from rop_otel_grafana.page_views import named
from rop_otel_grafana.promql import AGREEMENT, CAUSE, DROPPED_AT, JOINT, handoff_labels, recorded, select, sum_increase
from rop_otel_grafana.recording import JUDGED_MISS, judged_lists
from rop_otel_grafana.settings import Settings

NAME = "JudgedEvidenceLost"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rule. A stage at which nothing was lost earlier had no loss, where handoffs were scored at all."""
    change, labels = settings.judged, handoff_labels(settings)
    on, lists = f"on ({', '.join(labels)})", judged_lists(settings)
    return [
        Alert(
            name=NAME,
            expression=(
                f"{_rise(settings)} > {change.by:g}\n"
                f"and {on} {sum_increase(labels, lists, change.window)} >= {change.least}\n"
                f"and {on} {sum_increase(labels, lists, change.window, offset=change.earlier)} >= {change.least}"
            ),
            hold=change.hold,
            severity="warning",
            view=named(asked_of),
            summary=f"More judged evidence is lost at {lost_at()}, {subject(settings)}",
            description=(
                f'For each {subject(settings)}, {{{{ printf "%.2f" $value }}}} more judged objects are lost at'
                f" {lost_at()} than {change.earlier} earlier, taken over {change.window} (cause {value_of(CAUSE)})."
            ),
        )
    ]


def _rise(settings: Settings) -> str:
    now = recorded(JUDGED_MISS.over(settings.judged.window))
    return f"{now} - ({now} offset {settings.judged.earlier} or 0 * {now})"


def page(settings: Settings) -> Page:
    """Return what the runbook says."""
    labels = handoff_labels(settings)
    lost = select(settings, semconv.JUDGED_MISSES.prometheus)
    joint = select(settings, semconv.JOINTS.prometheus)
    return Page(
        name=NAME,
        means=(
            "The objects that are judged relevant to the questions are lost at one stage more often than they were"
            f" {settings.judged.earlier} earlier. The alert covers every question with judgments, also those without a"
            " selection."
        ),
        see=(
            ("How many more objects does each stage lose?", _rise(settings)),
            ("Where is it lost, and why?", sum_increase((*labels, DROPPED_AT, CAUSE), lost, "1h")),
            ("Do selected and judged objects go together?", sum_increase((*labels, JOINT, AGREEMENT), joint, "1h")),
        ),
        attempts=(
            (
                "Open a handoff: `rop-otel replay` lists, for each, the judged objects that were lost, with stage and"
                " cause."
            ),
            "Did a deployment, an index build or a setting change when it rose? Undo it first, then look.",
            cause_line(DropCause.NEVER_RETRIEVED),
            (
                f"`{DropCause.OVER_BUDGET}`, `{DropCause.TRUNCATED}`: a question that needs several documents needs"
                " room for all of them. Are the passages longer than they were?"
            ),
            (
                f"`{Joint.JUDGED_ONLY.value}` where the selected object is no judged one: retrieval is right, and the"
                " selector is not."
            ),
            "Are there new judgments, or a new kind of question? Then it is no regression.",
        ),
    )
