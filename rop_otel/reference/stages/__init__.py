"""The pipeline's stages as plain functions, one file per phase; ``pipeline`` puts them in order and observes them."""

from __future__ import annotations

from rop_otel.reference.stages.hits import Answer, Hit, Packed, Passage, Placed, ranked

__all__ = ["Answer", "Hit", "Packed", "Passage", "Placed", "ranked"]
