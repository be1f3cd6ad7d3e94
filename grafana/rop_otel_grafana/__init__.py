"""Grafana dashboards, Prometheus rules and alerts for the metrics of rop_otel, made from one configuration."""

from __future__ import annotations

from rop_otel_grafana.files import dashboards as dashboard_files
from rop_otel_grafana.files import rules as rule_files
from rop_otel_grafana.files import write
from rop_otel_grafana.settings import Settings, read_settings

__all__ = ["Settings", "dashboard_files", "read_settings", "rule_files", "write"]
