"""Alerts, each beside its page in the runbook."""

from __future__ import annotations

from rop_otel_grafana.alerts.alert import Alert, Page
from rop_otel_grafana.alerts.every import all_alerts, all_pages

__all__ = ["Alert", "Page", "all_alerts", "all_pages"]
