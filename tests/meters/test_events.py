"""Evaluation events."""

from __future__ import annotations

from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from rop_otel import semconv
from rop_otel.core.handoff import ListFinding
from rop_otel.core.handoff.assessment import Assessment, Drop, DropCause, Verdict
from rop_otel.meters.events import Events
from tests.meters.build import SPAN, START, TRACE, assessment, failed, finding, handoff


def emitted(outcome: Assessment) -> list[dict[str, object]]:
    """Return the events of one assessment, each with what it is attached to."""
    exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # it has no annotations
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    Events(provider).assessed(handoff(), outcome, seconds=0.0)
    records = [data.log_record for data in exporter.get_finished_logs()]
    for record in records:
        assert record.event_name == semconv.GEN_AI_EVALUATION_EVENT
        assert (record.trace_id, record.span_id) == (int(TRACE, 16), int(SPAN, 16))
        assert record.timestamp == START + 5_000_000
    return [dict(record.attributes or {}) for record in records]


def test_a_fail_is_an_event_of_its_handoff() -> None:
    """A FAIL emits one event in the handoff's context, with the verdict, the stage, the cause and one sentence."""
    (event,) = emitted(failed())
    assert event == {
        semconv.HANDOFF_NAME: "qa",
        semconv.HANDOFF_ID: "h1",
        semconv.GEN_AI_EVALUATION_NAME: semconv.VERDICT,
        semconv.GEN_AI_EVALUATION_LABEL: "FAIL",
        semconv.GEN_AI_EVALUATION_EXPLANATION: f"{failed()}; selected: 'd1'",
        semconv.DROPPED_AT: "mmr",
        semconv.DROP_CAUSE: "diversified_away",
    }


def test_a_loss_at_no_stage_names_none() -> None:
    """The event of an object that nothing retrieved carries no stage."""
    outcome = assessment(Verdict.FAIL, drop=Drop(cause=DropCause.NEVER_RETRIEVED))
    assert semconv.DROPPED_AT not in emitted(outcome)[0]


def test_findings_that_are_errors_are_events() -> None:
    """Each finding of severity error emits an event, warnings and hints emit none; so does a PASS."""
    findings = (finding(), finding(ListFinding.SILENT_CUT), finding(ListFinding.DUPLICATE_IDS))
    (event,) = emitted(assessment(findings=findings))
    assert event == {
        semconv.HANDOFF_NAME: "qa",
        semconv.HANDOFF_ID: "h1",
        semconv.GEN_AI_EVALUATION_NAME: semconv.FINDING,
        semconv.GEN_AI_EVALUATION_LABEL: "top_ranked_cut",
        semconv.GEN_AI_EVALUATION_EXPLANATION: "something is wrong",
        semconv.STAGE: "packing",
        semconv.SEVERITY: "error",
    }


def test_without_a_logger_provider_nothing_happens() -> None:
    """A provider that does nothing is told nothing."""
    Events(NoOpLoggerProvider()).assessed(handoff(), failed(), seconds=0.0)
