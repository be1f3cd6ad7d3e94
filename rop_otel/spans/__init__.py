"""Neutral spans, and OTLP JSON read and written as them."""

from rop_otel.spans.otlp_reader import read
from rop_otel.spans.otlp_writer import write
from rop_otel.spans.sdk import from_sdk
from rop_otel.spans.span import Event, Span

__all__ = ["Event", "Span", "from_sdk", "read", "write"]
