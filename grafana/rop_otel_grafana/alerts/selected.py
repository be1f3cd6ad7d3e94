"""``SelectedObjectDropsBeforeReader``: losses faster than the target allows, and the first loss where all are rare."""

from __future__ import annotations

from typing import Literal

from rop_otel import DropCause, Verdict, semconv
from rop_otel.core.handoff.advice import CAUSES
from rop_otel_grafana.alerts.alert import Alert, Page, Severity, asked_of, by_target, lost_at, subject, value_of
from rop_otel_grafana.page_views import lost
from rop_otel_grafana.promql import (
    CAUSE,
    DROPPED_AT,
    VERDICT,
    equal,
    growth,
    handoff_labels,
    one_of,
    recorded,
    select,
    sum_increase,
)
from rop_otel_grafana.recording import DECIDED, MISS, MISS_BY_CAUSE
from rop_otel_grafana.settings import Burn, Settings

NAME = "SelectedObjectDropsBeforeReader"
_LEADING = 0.5
"""A cause is named where it takes at least this part of what the first cause takes: the first one always is."""


def cause_line(cause: DropCause) -> str:
    """Return what to try for a cause: the words of the page."""
    says, advice = CAUSES[cause]
    return f"`{cause}`: {says} {advice}"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules: fast and slow for each target, and one for rare handoffs."""
    burning = [
        _burning(settings, speed, matchers=matchers, target=target)
        for speed in ("fast", "slow")
        for matchers, target in by_target(settings)
    ]
    return [*burning, _first(settings)]


def _burning(settings: Settings, speed: Literal["fast", "slow"], *, matchers: tuple[str, ...], target: float) -> Alert:
    burn: Burn = getattr(settings, speed)
    severity: Severity = "critical" if speed == "fast" else "warning"
    share = "{{ $value | humanizePercentage }}"
    return Alert(
        name=NAME,
        expression=_burn(settings, burn, matchers=matchers, target=target),
        hold=burn.hold,
        severity=severity,
        view=lost(asked_of),
        labels={"speed": speed, "target": f"{target:g}"},
        summary=f"{_subject(settings)} loses selected objects at {lost_at()}",
        description=(
            f"In the last {burn.short}, {share} of the selected objects of {subject(settings)} were lost at {lost_at()}"
            f" (cause {value_of(CAUSE)}). Losses of all causes are above {100 * burn.threshold(target):g}% over"
            f" {burn.long} too; the target allows {100 * (1 - target):g}%."
        ),
    )


def _burn(settings: Settings, burn: Burn, *, matchers: tuple[str, ...], target: float) -> str:
    labels = ", ".join(handoff_labels(settings))
    causes = recorded(MISS_BY_CAUSE.over(burn.short), *matchers)
    failed = select(settings, semconv.VERDICTS.prometheus, equal(VERDICT, Verdict.FAIL.value), *matchers)
    threshold = f"{burn.threshold(target):g}"
    return (
        f"{causes}\n"
        f">= on ({labels}) group_left () ({_LEADING:g} * max by ({labels}) ({causes}))\n"
        f"and on ({labels}) {recorded(MISS.over(burn.short), *matchers)} > {threshold}\n"
        f"and on ({labels}) {recorded(MISS.over(burn.long), *matchers)} > {threshold}\n"
        f"and on ({labels}) {sum_increase(handoff_labels(settings), failed, burn.long)} >= {burn.least}"
    )


def _first(settings: Settings) -> Alert:
    rare = settings.rare
    by_cause = handoff_labels(settings, DROPPED_AT, CAUSE)
    losses = growth(by_cause, select(settings, semconv.MISSES.prometheus), rare.window)
    decided = select(settings, semconv.VERDICTS.prometheus, one_of(VERDICT, DECIDED))
    return Alert(
        name=NAME,
        expression=(
            f"{losses} > 0\n"
            f"unless on ({', '.join(handoff_labels(settings))})"
            f" {sum_increase(handoff_labels(settings), decided, rare.per)} >= {rare.below}"
        ),
        hold=rare.hold,
        severity="warning",
        labels={"speed": "first"},
        view=lost(asked_of),
        summary=f"{_subject(settings)}, a rare one, lost a selected object at {lost_at()}",
        description=(
            f"A selected object of {subject(settings)} was lost at {lost_at()} (cause {value_of(CAUSE)}) within"
            f" {rare.window}. The handoff is seen fewer than {rare.below} times in {rare.per}, too seldom for a share."
        ),
    )


def _subject(settings: Settings) -> str:
    text = subject(settings)
    return text[0].upper() + text[1:]


def page(settings: Settings) -> Page:
    """Return what the runbook says."""
    labels = handoff_labels(settings)
    causes = (*labels, DROPPED_AT, CAUSE)
    misses = select(settings, semconv.MISSES.prometheus)
    survived = select(settings, semconv.STAGE_SELECTED.prometheus)
    return Page(
        name=NAME,
        means=(
            "Objects that were selected upstream do not reach the reader, so answers are written without the evidence"
            " that was chosen for them. The labels say at which stage they are lost and why. `speed` is `fast` where"
            f" the losses of the last {settings.fast.long} are far above the target, `slow` where those of"
            f" {settings.slow.long} are above it, and `first` for a handoff so rare that one loss is news. Where"
            " several causes share the losses, each large one has an alert of its own."
        ),
        see=(
            ("Where are they lost, and why?", sum_increase(causes, misses, "15m")),
            ("Up to which stage do they survive?", sum_increase((*labels, *_survival()), survived, "15m")),
        ),
        attempts=(
            (
                "Open a trace: the misses panel of the *Handoffs* dashboard links to one, and the handoff span carries"
                " the selected IDs, the verdict and the cause. `rop-otel replay` assesses exported spans again."
            ),
            "Did a deployment, an index build or a setting change when the losses began? Undo it first, then look.",
            *map(cause_line, DropCause),
            (
                "Where a ranking lost them, look for `RerankerFallback` too, and check that judgments credit every"
                " document that a question needs before you blame the ranking."
            ),
            (
                "Where packing lost them: a fixed-size prefix of a list that was reordered for long contexts drops the"
                " best one, which then stands in the middle or at the end."
            ),
            "Are the objects lost for good reasons? Then the target is too high for this handoff: give it its own.",
        ),
    )


def _survival() -> tuple[str, str]:
    return semconv.label(semconv.STAGE), semconv.label(semconv.PRESENT)
