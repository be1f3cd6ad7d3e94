"""What an alert and its page in the runbook are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rop_otel_grafana.page_views import View, address
from rop_otel_grafana.promql import DROPPED_AT, HANDOFF, one_of
from rop_otel_grafana.settings import Duration, Settings

Severity = Literal["critical", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert rule.

    Args:
        name: The alert; several rules may share it.
        expression: PromQL that has a result where something is wrong.
        hold: How long before it fires.
        severity: ``critical`` wakes somebody.
        summary: One line.
        description: What happened, with service, handoff, stage and cause.
        labels: Further labels of this rule.
        view: Of the page, where it shows the handoffs that are meant.
    """

    name: str
    expression: str
    hold: Duration
    severity: Severity
    summary: str
    description: str
    labels: Mapping[str, str] = field(default_factory=dict)
    view: View | None = None

    def rule(self, settings: Settings) -> dict[str, object]:
        """Return the rule as Prometheus reads it."""
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.hold,
            "labels": {**settings.labels, **self.labels, "severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{settings.runbook}#{self.name.lower()}",
                **({"page_url": address(settings.page_url, self.view)} if settings.page_url and self.view else {}),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the runbook says about one alert.

    Args:
        name: The alert.
        means: What has happened when it fires.
        see: Questions and the PromQL that answers them.
        attempts: What to try, the likeliest first.
    """

    name: str
    means: str
    see: tuple[tuple[str, str], ...]
    attempts: tuple[str, ...]


def value_of(label: str, *, otherwise: str = "") -> str:
    """Return the template of a label's value, and of a word where it is empty.

    >>> value_of("job")
    '{{ $labels.job }}'
    """
    if otherwise:
        return f'{{{{ or $labels.{label} "{otherwise}" }}}}'
    return f"{{{{ $labels.{label} }}}}"


def asked_of(label: str) -> str:
    """Return the template of a label's value in an address of the page, where a dash stands for an empty one.

    >>> asked_of("rop_run_id")
    '{{ or $labels.rop_run_id "-" | urlquery }}'
    """
    return f'{{{{ or $labels.{label} "-" | urlquery }}}}'


def subject(settings: Settings) -> str:
    """Return the template that names handoff and service."""
    return f"handoff {value_of(HANDOFF)} of service {value_of(settings.service_label, otherwise='unknown')}"


def lost_at() -> str:
    """Return the template that names the stage of a loss."""
    return f"{{{{ with $labels.{DROPPED_AT} }}}}stage {{{{ . }}}}{{{{ else }}}}no stage in particular{{{{ end }}}}"


def by_target(settings: Settings) -> Iterator[tuple[tuple[str, ...], float]]:
    """Give the matchers of the handoffs that share a target, and that target; the general one comes last."""
    own: dict[float, list[str]] = {}
    for name, declared in sorted(settings.handoffs.items()):
        if declared.target is not None:
            own.setdefault(declared.target, []).append(name)
    for target, names in sorted(own.items()):
        yield (one_of(HANDOFF, names),), target
    others = [name for names in own.values() for name in names]
    yield (one_of(HANDOFF, sorted(others), negated=True),) if others else (), settings.target
