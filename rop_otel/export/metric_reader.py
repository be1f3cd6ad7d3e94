"""A reader of metrics that exports in the process that made it, and in no other."""

from __future__ import annotations

import os
from typing import Any

from opentelemetry.sdk.metrics.export import MetricExporter, MetricsData, PeriodicExportingMetricReader


class PeriodicReader(PeriodicExportingMetricReader):
    """Exports metrics from time to time; in a forked process, which has a reader of its own, no more.

    OpenTelemetry starts the thread of each reader again there, and has no way to stop it without an export.

    Args:
        exporter: Sends them.
        interval_ms: Time between two exports; None: as OpenTelemetry's own variable says.
    """

    def __init__(self, exporter: MetricExporter, interval_ms: float | None) -> None:
        self._process = os.getpid()
        super().__init__(exporter, interval_ms)

    def _receive_metrics(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> None:
        if os.getpid() == self._process:
            super()._receive_metrics(metrics_data, timeout_millis, **kwargs)
