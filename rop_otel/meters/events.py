"""FAILs and errors as OpenTelemetry events, in the handoff's own context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber

from rop_otel import semconv
from rop_otel.core.checkup import sentence
from rop_otel.core.handoff.assessment import Assessment, Finding, Severity, Verdict
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.sink import Notice
from rop_otel.meters.spancontext import context_of
from rop_otel.safety import Turns


class Events:
    """The sink that emits an evaluation event for each FAIL and for each finding of severity error.

    Args:
        provider: Where to emit; without a real one no event is made.
    """

    def __init__(self, provider: LoggerProvider) -> None:
        self._logger = provider.get_logger(semconv.SCOPE_NAME)
        self._turns = Turns()

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Emit the events of one assessed handoff."""
        events = list(_events(record, assessment))
        if events and _listens(self._logger):
            self._turns.do(partial(self._emit, record, events))

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Emit nothing: notices are counted."""

    def _emit(self, record: HandoffRecord, events: list[Mapping[str, str]]) -> None:
        context = context_of(record.trace_id, record.span_id)
        for attributes in events:
            self._logger.emit(
                timestamp=record.end_ns,
                context=context,
                severity_number=SeverityNumber.ERROR,
                severity_text="ERROR",
                event_name=semconv.GEN_AI_EVALUATION_EVENT,
                attributes=attributes,
            )


def _listens(logger: Logger) -> bool:
    """Return whether somebody receives events; older versions of the API do not say, which counts as yes."""
    enabled = getattr(logger, "enabled", None)
    return enabled is None or bool(enabled(event_name=semconv.GEN_AI_EVALUATION_EVENT))


def _events(record: HandoffRecord, assessment: Assessment) -> Iterator[Mapping[str, str]]:
    common = {semconv.HANDOFF_NAME: record.name, semconv.HANDOFF_ID: record.handoff_id}
    if assessment.verdict is Verdict.FAIL:
        yield common | _verdict(record, assessment)
    for finding in assessment.findings:
        if finding.severity is Severity.ERROR:
            yield common | _finding(finding)


def _verdict(record: HandoffRecord, assessment: Assessment) -> dict[str, str]:
    cause, stage = assessment.drop_cause, assessment.dropped_at
    attributes = {
        semconv.GEN_AI_EVALUATION_NAME: semconv.VERDICT,
        semconv.GEN_AI_EVALUATION_LABEL: Verdict.FAIL.value,
        semconv.GEN_AI_EVALUATION_EXPLANATION: sentence(assessment, record.selected),
    }
    if cause is not None:
        attributes[semconv.DROP_CAUSE] = cause.value
    if stage is not None:
        attributes[semconv.DROPPED_AT] = stage
    return attributes


def _finding(finding: Finding) -> dict[str, str]:
    return {
        semconv.GEN_AI_EVALUATION_NAME: semconv.FINDING,
        semconv.GEN_AI_EVALUATION_LABEL: finding.code.value,
        semconv.GEN_AI_EVALUATION_EXPLANATION: finding.message,
        semconv.STAGE: finding.stage,
        semconv.SEVERITY: finding.severity.value,
    }
