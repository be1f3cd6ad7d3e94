"""Watches LangChain with rop-otel: retrievers, compressors, transformers, prompts and the chain around them."""

from __future__ import annotations

from rop_otel_langchain.instrumentor import LangChainInstrumentor

__all__ = ["LangChainInstrumentor"]
