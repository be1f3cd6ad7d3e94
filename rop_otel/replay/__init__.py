"""Recorded spans, put together as handoffs and assessed."""

from rop_otel.replay.doctor_report import Checkup, check_up
from rop_otel.replay.doctor_report_text import print_checkup
from rop_otel.replay.handoff_report import Report, replay
from rop_otel.replay.handoff_report_text import print_report
from rop_otel.replay.span_files import replay_files

__all__ = ["Checkup", "Report", "check_up", "print_checkup", "print_report", "replay", "replay_files"]
