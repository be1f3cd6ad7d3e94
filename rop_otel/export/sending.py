"""A batch processor that counts the spans it could not send: what a queue had no room for, and what failed."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from rop_otel.safety import Turns, create_lock, in_child

_QUEUE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
_DEFAULT_QUEUE: Final = 2048


class _Pending:
    """How many spans wait in the queue, counted by what goes in and what comes out.

    Never fewer than there are: while a batch is being taken out its spans still count.

    Args:
        room: What the queue holds.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._lock = create_lock()
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
            taken = min(number, self._count)
            self._count -= taken

    def forget(self) -> None:
        """Start over in a forked process, whose queue is empty."""
        self._count = 0


class _Outlet(SpanExporter):
    """Passes batches on.

    Args:
        create: Makes the exporter.
        pending: What waits.
        lost: Called with the number of spans that will never be sent.
    """

    def __init__(self, create: Callable[[], SpanExporter], pending: _Pending, lost: Callable[[int], None]) -> None:
        self._create = create
        self._exporter: SpanExporter | None = create()
        self._inherited: list[SpanExporter | None] = []
        self._pending = pending
        self._lost = lost

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, and count it where it failed."""
        self._pending.take(len(spans))
        result = SpanExportResult.FAILURE
        try:
            if self._exporter is None:
                self._exporter = self._create()
            result = self._exporter.export(spans)
        finally:
            if result is not SpanExportResult.SUCCESS:
                self._lost(len(spans))
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        if self._exporter is not None:
            self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter."""
        return self._exporter is None or self._exporter.force_flush(timeout_millis)

    def forget(self) -> None:
        """Export by another exporter in a forked process: a thread of its parent may have held locks of this one.

        It is kept, since its end might wait for them, and the other one is made when there is something to export.
        """
        self._inherited.append(self._exporter)
        self._exporter = None


class CountingProcessor(BatchSpanProcessor):
    """Sends spans in batches.

    Args:
        create: Makes the exporter that sends them, once in each process.
        lost: Called with the number of spans that will never be sent.
    """

    def __init__(self, create: Callable[[], SpanExporter], *, lost: Callable[[int], None]) -> None:
        room = _room()
        self._pending = _Pending(room)
        self._lost = lost
        self._turns = Turns()  # the queue wakes its thread under a lock that a signal handler would wait for
        outlet = _Outlet(create, self._pending, lost)
        super().__init__(outlet, max_queue_size=room)
        for each in (self._pending, outlet):
            in_child(partial(_forget, weakref.ref(each)))

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span that was sampled, where there is room for it."""
        if span.context is not None and span.context.trace_flags.sampled:
            self._turns.do(partial(self._queue, span))

    def _queue(self, span: ReadableSpan) -> None:
        if self._pending.add():
            super().on_end(span)
        else:
            self._lost(1)


def _forget(reference: Callable[[], _Pending | _Outlet | None]) -> None:
    each = reference()
    if each is not None:
        each.forget()


def _room() -> int:
    """Return the queue's size: OpenTelemetry's own variable, else its default."""
    return int(os.environ.get(_QUEUE, "").strip() or _DEFAULT_QUEUE)
