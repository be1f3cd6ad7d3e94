"""All files that are made from the settings, by their place in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rop_otel_grafana import provisioning, recording, runbook
from rop_otel_grafana.alertmanager import alertmanager
from rop_otel_grafana.alerts import all_alerts, all_pages
from rop_otel_grafana.documents import as_json, as_yaml
from rop_otel_grafana.settings import Settings

RUNBOOK = "runbook.md"
ROUTING = "alertmanager/alertmanager.yaml"
"""In a folder of its own: a Prometheus that loads every file beside the rules would not start with it."""


def rules(settings: Settings) -> dict[str, str]:
    """Return rules, example routing and runbook."""
    alerts = [
        {"name": name, "interval": settings.interval, "rules": [alert.rule(settings) for alert in group]}
        for name, group in all_alerts(settings).items()
    ]
    return {
        "recording.yaml": as_yaml({"groups": recording.groups(settings)}, verb="rules"),
        "alerts.yaml": as_yaml({"groups": alerts}, verb="rules"),
        ROUTING: as_yaml(alertmanager(settings), verb="rules"),
        RUNBOOK: runbook.render(all_pages(settings)),
    }


def dashboards(settings: Settings) -> dict[str, str]:
    """Return dashboards and provisioning."""
    from rop_otel_grafana.dashboards import all_dashboards  # imported here: rules need no foundation SDK

    boards = {f"dashboards/{uid}.json": as_json(board) for uid, board in all_dashboards(settings).items()}
    return {
        **boards,
        "provisioning/dashboards/rop-otel.yaml": as_yaml(provisioning.dashboards(settings), verb="dashboards"),
        "provisioning/datasources/rop-otel.yaml": as_yaml(provisioning.datasources(settings), verb="dashboards"),
    }


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, which is made where it is missing."""
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
