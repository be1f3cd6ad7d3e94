"""``rop-otel study``: which way of turning a selection into evidence loses it."""

from rop_otel.cli.study.app import study

__all__ = ["study"]
