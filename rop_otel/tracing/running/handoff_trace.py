"""The span of a handoff, its IDs, and the clock of its stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from time import monotonic_ns, time_ns
from typing import Any, Final
from uuid import uuid4

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanContext,
    format_span_id,
    format_trace_id,
    get_current_span,
)

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, Ids, StageRecord
from rop_otel.safety import is_collecting, raise_if_delivered
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.running.span_writing import blame, write

_NO_SPAN: Final = (
    "no span is recorded, so that no monitor sees a handoff; say where it is with OTEL_EXPORTER_OTLP_ENDPOINT, or use "
    "a tracer provider that sends spans there"
)


class HandoffTrace:
    """A handoff as the tracer sees it.

    Args:
        name: Name of the handoff.

    Attributes:
        span: Its span, if one could be started.
        before: The context that it began in.
        began: Its start, Unix nanoseconds.
        id: ID of the handoff.
        trace_id, span_id: Of its span in hex, empty without one.
        failed: Whether an exception went through it.
    """

    __slots__ = (
        "_latest",
        "_name",
        "_numbers",
        "_offset",
        "_stage_trace_id",
        "_taken",
        "_trace_number",
        "before",
        "began",
        "failed",
        "id",
        "span",
        "span_id",
        "trace_id",
    )

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers = count(1)
        self._taken: set[int] = set()
        self.span: Span = INVALID_SPAN
        self.id = self.trace_id = self.span_id = ""
        self.failed = False

    def start(self, runtime: Runtime, before: Context) -> None:
        """Start the clock and the span, and find the IDs."""
        self.before = before
        self.began = time_ns()
        # From now on time is counted, not read: a clock that is set back cannot make a stage late.
        self._offset = self.began - monotonic_ns()
        self._latest = self.began
        if not is_collecting():  # what else sees spans begin must not run in the middle of anything
            self._start_span(runtime)
        self._identify()
        if not self.span_id and runtime.config.assess == "monitor":
            runtime.diagnostics.remark(Problem.CONFIGURATION, 'assess="monitor"', _NO_SPAN)

    def now(self) -> int:
        """Return the time, always later than before: the order of stages must not depend on the clock's resolution."""
        self._latest = max(self._offset + monotonic_ns(), self._latest + 1)
        return self._latest

    def ids_of(self, stage: SpanContext) -> tuple[str, str]:
        """Return the IDs of the trace and the span of a stage, minted where its span has none of its own.

        Without an SDK the tracer hands out no span, or the parent's; and a span's ID is not new where an application
        seeds ``random``.
        """
        if not stage.is_valid or stage.span_id in self._taken:
            return self._stage_trace_id, format_span_id(next(self._numbers))
        self._taken.add(stage.span_id)
        same = stage.trace_id == self._trace_number
        return self.trace_id if same else format_trace_id(stage.trace_id), f"{stage.span_id:016x}"

    def observed(
        self, record: HandoffRecord, stages: tuple[StageRecord, ...], *, selected: Ids | None, end_ns: int
    ) -> HandoffRecord:
        """Return the record of the handoff, which has its declared facts, with the observed ones."""
        return replace(
            record,
            selected=selected,
            handoff_id=self.id,
            trace_id=self.trace_id,
            span_id=self.span_id,
            stages=stages,
            failed=self.failed,
            start_ns=self.began,
            end_ns=end_ns,
        )

    def blame(self, runtime: Runtime, error: BaseException) -> None:
        """Record that the handoff failed, and with what."""
        self.failed = True
        try:
            if self.span.is_recording():
                blame(self.span, error, text=runtime.config.records_text)
        except Exception as raised:  # noqa: BLE001
            raise_if_delivered(raised)
            runtime.diagnostics.failure(Problem.HANDOFF, self._name, "its exception could not be recorded")

    def end(self, runtime: Runtime, attributes: Callable[[], dict[str, Any]], *, at: int) -> None:
        """Write attributes on the span where it is recorded, and end it."""
        try:
            try:
                if self.span.is_recording():
                    write(self.span, attributes())
            finally:
                self.span.end(at)
        except Exception as error:  # noqa: BLE001
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.HANDOFF, self._name, "its span could not be ended")

    def _start_span(self, runtime: Runtime) -> None:
        name = semconv.SPAN_HANDOFF.format(name=self._name)
        try:
            self.span = runtime.tracer.start_span(
                name, self.before, attributes={semconv.HANDOFF_NAME: self._name}, start_time=self.began
            )
        except Exception as error:  # noqa: BLE001 - a broken sampler or span processor is kept from the application
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.HANDOFF, self._name, "its span could not be started")

    def _identify(self) -> None:
        context = self.span.get_span_context()
        self._trace_number = context.trace_id
        self._taken.add(context.span_id)
        self.trace_id = format_trace_id(context.trace_id) if context.is_valid else ""
        if context.is_valid and context.span_id != get_current_span(self.before).get_span_context().span_id:
            self.span_id = format_span_id(context.span_id)
            self._stage_trace_id = self.trace_id
            self.id = f"{self.trace_id}-{self.span_id}"
        else:  # without an SDK the tracer hands out no span, or the parent's
            self._stage_trace_id = self.trace_id or uuid4().hex
            self.id = f"{self._stage_trace_id}-{uuid4().hex[:16]}"
