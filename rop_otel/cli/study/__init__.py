"""``rop-otel study``: which way of turning a selection into evidence loses it."""

from rop_otel.cli.study.verbs import study

__all__ = ["study"]
