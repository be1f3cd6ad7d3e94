"""Recorded spans, put together as handoffs and assessed."""

from rop_otel.replay.handoff_report import Report, replay
from rop_otel.replay.handoff_report_text import print_report
from rop_otel.replay.span_files import replay_files

__all__ = ["Report", "print_report", "replay", "replay_files"]
