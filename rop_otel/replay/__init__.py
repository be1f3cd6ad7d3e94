"""Recorded spans, put together as handoffs and judged."""

from rop_otel.replay.assemble import Assembled, assemble
from rop_otel.replay.files import replay_files
from rop_otel.replay.report import Report, replay

__all__ = ["Assembled", "Report", "assemble", "replay", "replay_files"]
