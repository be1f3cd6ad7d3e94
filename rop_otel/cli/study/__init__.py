"""``rop-otel study``: which way of turning a selection into evidence loses it; one file per verb."""

from __future__ import annotations

from rop_otel.cli.study.verbs import study

__all__ = ["study"]
