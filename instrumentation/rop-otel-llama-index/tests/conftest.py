"""The instrumentor on for one test, and off again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.instrumentation import root_dispatcher  # type: ignore[attr-defined]
from rop_otel_llama_index import LlamaIndexInstrumentor

import rop_otel as rop
from rop_otel.tracing.running import runtime

sys.path.append(str(Path(__file__).parent))  # no import can name this folder, and the tests share a module in it
from llama_index_parts import Watch


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What instruments, and keeps what is assessed; afterwards nothing is instrumented any more."""
    before = runtime.install(None)
    spans, events = list(root_dispatcher.span_handlers), list(root_dispatcher.event_handlers)
    yield Watch()
    instrumentor = LlamaIndexInstrumentor()
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()
    rop.shutdown()
    runtime.install(before)
    assert rop.current_handoff().name == "handoff", "a handoff is still current"
    root_dispatcher.span_handlers, root_dispatcher.event_handlers = spans, events


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that LlamaIndex finds, instead of making one that nobody closes."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    asyncio.set_event_loop(None)
    made.close()
