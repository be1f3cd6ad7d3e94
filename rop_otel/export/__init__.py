"""Set-up in one call, the span processor, and ``/metrics``. This room may use OpenTelemetry's SDK."""

from __future__ import annotations

from rop_otel.export.processor import RopSpanProcessor
from rop_otel.export.setup import Monitoring, configure, configure_once, shutdown

__all__ = ["Monitoring", "RopSpanProcessor", "configure", "configure_once", "shutdown"]
