"""The span of one execution of a stage, and the IDs that its record has."""

from __future__ import annotations

from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.span_writing import blame, write
from rop_otel.tracing.stages.openinference_attributes import openinference
from rop_otel.tracing.stages.stage_facts import StageFacts
from rop_otel.tracing.stages.stage_owner import Owner


class StageSpan:
    """A span that may not be there: without an SDK there is none, and a broken one is kept from the application.

    Attributes:
        span: The span.
        is_recording: Whether the span is recorded.
        trace_id, span_id: Of the span, or minted.
        parent_id: Of the enclosing stage.
    """

    __slots__ = ("is_recording", "parent_id", "span", "span_id", "trace_id")

    def __init__(self) -> None:
        self.span: Span = INVALID_SPAN
        self.is_recording = False
        self.trace_id = self.span_id = ""
        self.parent_id: str | None = None

    def start(self, facts: StageFacts, before: Context, *, at: int) -> None:
        """Start the span.

        Args:
            facts: Of the stage.
            before: The context that it starts in.
            at: When, Unix nanoseconds.
        """
        spec, runtime = facts.spec, facts.runtime
        try:
            self.span = runtime.tracer.start_span(
                spec.span_name,
                before,
                spec.span_kind,
                spec.attributes if facts.owner is None else None,  # in a handoff they are written once, at the end
                start_time=at,
            )
        except Exception as error:  # noqa: BLE001 - a broken sampler or span processor is kept from the application
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.STAGE, spec.place, "its span could not be started")

    def identify(self, owner: Owner | None, parent_id: str | None) -> None:
        """Find the IDs of the span, started or not."""
        context = self.span.get_span_context()
        if owner is None:
            self.trace_id, self.span_id = format_trace_id(context.trace_id), format_span_id(context.span_id)
        else:
            self.trace_id, self.span_id = owner.trace.ids_of(context)
        self.parent_id = parent_id
        self.is_recording = self.span.is_recording()

    def end(self, facts: StageFacts, error: BaseException | None, *, at: int) -> None:
        """Write the facts of the stage on the span, and end it."""
        try:
            try:
                if self.is_recording:
                    write(self.span, self._attributes(facts), longest=facts.runtime.longest)
                    if error is not None:
                        blame(self.span, error, text=facts.runtime.config.records_text, at=at)
            finally:
                self.span.end(at)
        except Exception as raised:  # noqa: BLE001
            raise_if_delivered(raised)
            facts.runtime.diagnostics.failure(Problem.STAGE, facts.spec.place, "its span could not be ended")

    def _attributes(self, facts: StageFacts) -> dict[str, Any]:
        owner = facts.owner
        first = {} if owner is None else {**facts.spec.attributes, semconv.HANDOFF_ID: owner.id}
        attributes = facts.attributes(first)
        if facts.runtime.config.openinference:
            attributes = {**openinference(facts.spec.kind, facts.fields), **attributes}
        return attributes
