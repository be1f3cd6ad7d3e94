"""Watches Haystack pipelines: did the selected object reach the prompt, and if not, which component lost it?"""

from __future__ import annotations

from rop_otel_haystack.instrumentor import HaystackInstrumentor

__all__ = ["HaystackInstrumentor"]
