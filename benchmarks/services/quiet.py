"""FastAPI without the spans of its own that it makes where a process has a tracer provider."""

from __future__ import annotations

from typing import Final

from fastapi.telemetry import TelemetryConfig

QUIET: Final = TelemetryConfig(tracing=False, metrics=False, logs=False, operation_spans=False)
