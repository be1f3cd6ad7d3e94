"""Spans of other conventions read as ours: which of their attributes stand for which of ours."""

from rop_otel.spans.conventions.admitting import admitted
from rop_otel.spans.conventions.reading import as_stage, concerns, handoff_attributes
from rop_otel.spans.conventions.rules import Rules

__all__ = ["Rules", "admitted", "as_stage", "concerns", "handoff_attributes"]
