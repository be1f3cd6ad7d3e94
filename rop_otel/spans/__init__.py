"""Neutral spans, from the SDK and, in modules of their own, from OTLP JSON and other conventions."""

from rop_otel.spans.sdk import from_sdk
from rop_otel.spans.span import Event, Span

__all__ = ["Event", "Span", "from_sdk"]
