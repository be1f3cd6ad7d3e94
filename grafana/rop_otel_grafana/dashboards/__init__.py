"""The three dashboards: handoffs, stages, and the monitor itself."""

from __future__ import annotations

from rop_otel_grafana.dashboards.every import all_dashboards

__all__ = ["all_dashboards"]
