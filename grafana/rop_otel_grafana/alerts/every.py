"""All alerts in one place, and in one order."""

from __future__ import annotations

from rop_otel_grafana.alerts import citations, judged, monitor, prompt, runs, selected, stages, undecided
from rop_otel_grafana.alerts.alert import Alert, Page
from rop_otel_grafana.settings import Settings


def all_alerts(settings: Settings) -> dict[str, list[Alert]]:
    """Return the alerts by the name of their rule group."""
    return {
        "rop-runs": runs.alerts(settings),
        "rop-selected-alerts": selected.alerts(settings),
        "rop-judged-alerts": judged.alerts(settings),
        "rop-stages": stages.alerts(settings),
        "rop-prompt": prompt.alerts(settings),
        "rop-citation-alerts": citations.alerts(settings),
        "rop-undecided-alerts": undecided.alerts(settings),
        "rop-monitor": monitor.alerts(settings),
    }


def all_pages(settings: Settings) -> list[Page]:
    """Return the pages of the runbook."""
    return [
        *runs.pages(settings),
        selected.page(settings),
        judged.page(settings),
        *stages.pages(settings),
        *prompt.pages(settings),
        *citations.pages(settings),
        undecided.page(settings),
        *monitor.pages(settings),
    ]
