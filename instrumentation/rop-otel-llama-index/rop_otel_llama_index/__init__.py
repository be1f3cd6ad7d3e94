"""Watch LlamaIndex: did the selected object reach the reader, and if not, which part lost it?"""

from __future__ import annotations

from rop_otel_llama_index.instrumentor import LlamaIndexInstrumentor

__all__ = ["LlamaIndexInstrumentor"]
