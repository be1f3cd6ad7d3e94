"""Reads spans of other conventions as ours: which of their attributes stand for which of ours."""

from rop_otel.spans.conventions.admitting import admitted
from rop_otel.spans.conventions.convention_rules import Rules
from rop_otel.spans.conventions.translation import as_stage, concerns, handoff_attributes

__all__ = ["Rules", "admitted", "as_stage", "concerns", "handoff_attributes"]
