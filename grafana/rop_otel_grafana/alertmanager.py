"""Example routing for Alertmanager."""

from __future__ import annotations

from rop_otel_grafana.alerts import citations, judged, monitor, prompt, runs, selected, stages
from rop_otel_grafana.promql import CAUSE, DROPPED_AT, HANDOFF
from rop_otel_grafana.settings import Settings

PER_STAGE = (
    selected.NAME,
    judged.NAME,
    stages.DROPPED,
    stages.FALLBACK,
    stages.STARVED,
    prompt.UNSEEN,
    prompt.CUT,
    citations.MISATTRIBUTED,
    citations.UNRESOLVED,
)
"""Alerts that a failed run of the same service holds back. A leak of another scope is never held back."""


def alertmanager(settings: Settings) -> dict[str, object]:
    """Return a configuration: one message for each handoff, and none about stages while a run has failed."""
    service = settings.service_label
    return {
        "route": {
            "receiver": "retrieval",
            "group_by": [service, HANDOFF],
            "group_wait": "10s",
            "group_interval": "1m",
            "repeat_interval": "4h",
            "routes": [
                {"matchers": [f'alertname="{monitor.ERRORS}"'], "receiver": "monitor", "group_by": [service]},
                {"matchers": ['severity="critical"'], "receiver": "retrieval-page", "group_wait": "0s"},
            ],
        },
        "inhibit_rules": [
            {
                "source_matchers": [f'alertname="{runs.FAILED}"'],
                "target_matchers": [f'alertname=~"{"|".join(sorted(PER_STAGE))}"'],
                "equal": [service],
            },
            {
                "source_matchers": [f'alertname="{selected.NAME}"', 'speed="fast"'],
                "target_matchers": [f'alertname="{selected.NAME}"', 'speed=~"slow|first"'],
                "equal": [service, HANDOFF, DROPPED_AT, CAUSE],
            },
        ],
        "receivers": [
            {"name": name, "webhook_configs": [{"url": settings.webhook, "send_resolved": True}]}
            for name in ("retrieval", "retrieval-page", "monitor")
        ],
    }
