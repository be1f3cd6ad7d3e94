"""A batch processor that counts the spans it could not send: what a queue had no room for, and what failed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

_QUEUE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
_DEFAULT_QUEUE: Final = 2048


class _Pending:
    """How many spans wait in the queue, told by what goes in and what comes out.

    Never fewer than there are: while a batch is being taken out its spans still count.

    Args:
        room: What the queue holds.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._count = 0

    def add(self) -> bool:
        """Add a span, and return whether there was room for it."""
        with self._lock:
            fits = self._count < self._room
            self._count += fits
            return fits

    def take(self, number: int) -> None:
        """Take spans out."""
        with self._lock:
            self._count = max(self._count - number, 0)

    def forget(self) -> None:
        """Start over in a forked process, whose queue is empty and whose lock may have been held."""
        self._lock = threading.Lock()
        self._count = 0


class _Outlet(SpanExporter):
    """Passes batches on."""

    def __init__(self, exporter: SpanExporter, pending: _Pending, lost: Callable[[int], None]) -> None:
        self._exporter = exporter
        self._pending = pending
        self._lost = lost

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, and count it where it failed."""
        self._pending.take(len(spans))
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            if result is not SpanExportResult.SUCCESS:
                self._lost(len(spans))
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)


class CountingProcessor(BatchSpanProcessor):
    """Sends spans in batches.

    Args:
        exporter: Sends them.
        lost: Told how many spans will never be sent.
    """

    def __init__(self, exporter: SpanExporter, *, lost: Callable[[int], None]) -> None:
        room = _room()
        self._pending = _Pending(room)
        self._lost = lost
        super().__init__(_Outlet(exporter, self._pending, lost), max_queue_size=room)
        if hasattr(os, "register_at_fork"):
            pending = weakref.ref(self._pending)
            os.register_at_fork(after_in_child=lambda: _forget(pending()))

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span that was sampled, where there is room for it."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        if self._pending.add():
            super().on_end(span)
        else:
            self._lost(1)


def _forget(pending: _Pending | None) -> None:
    if pending is not None:
        pending.forget()


def _room() -> int:
    """Return the queue's size: OpenTelemetry's own variable, else its default."""
    return int(os.environ.get(_QUEUE, "").strip() or _DEFAULT_QUEUE)
