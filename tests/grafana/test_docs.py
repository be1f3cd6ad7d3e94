"""What the manual says about dashboards and alerts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from rop_otel_grafana import Settings
from rop_otel_grafana.alerts import all_alerts

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "alerts.md").read_text(encoding="utf-8")


def test_the_settings_of_the_manual_can_be_read() -> None:
    """The example of a file of settings is one."""
    [example] = re.findall(r"```toml\n(.*?)```", MANUAL, flags=re.DOTALL)
    settings = Settings.model_validate(tomllib.loads(example))
    assert {name: declared.target for name, declared in settings.handoffs.items()} == {"docs": 0.99, "mail": None}
    assert settings.starved.above == 0.1


def test_the_manual_lists_every_alert_with_its_severity() -> None:
    """The table has each alert once, with the severities of its rules."""
    rows = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \|", MANUAL, flags=re.MULTILINE)
    severities: dict[str, set[str]] = {}
    for group in all_alerts(Settings()).values():
        for alert in group:
            severities.setdefault(alert.name, set()).add(alert.severity)
    assert {name: set(listed.split(", ")) for name, listed in rows} == severities
