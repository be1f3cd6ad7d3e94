"""Neutral spans: made from the SDK's spans, and read from OTLP JSON and from other conventions."""

from rop_otel.spans.sdk import from_sdk
from rop_otel.spans.span import Event, Span

__all__ = ["Event", "Span", "from_sdk"]
