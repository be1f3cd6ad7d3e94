"""Recorded spans, put together as handoffs and judged."""

from rop_otel.replay.assemble import Assembled, assemble
from rop_otel.replay.files import replay_files
from rop_otel.replay.report import Report, replay
from rop_otel.replay.text import print_report

__all__ = ["Assembled", "Report", "assemble", "print_report", "replay", "replay_files"]
