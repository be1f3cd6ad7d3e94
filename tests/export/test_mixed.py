"""Our own API and spans of others in one trace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.handoff import ContextFinding, Notice, Verdict
from rop_otel.replay.handoff_report import replay
from rop_otel.spans.sdk import from_sdk
from rop_otel.tracing.running import runtime
from tests.export.monitored import Monitored


@pytest.fixture
def monitored() -> Iterator[Monitored]:
    """Return a monitored provider that our own API uses too."""
    monitored = Monitored()
    before = runtime.install(monitored.runtime)
    yield monitored
    runtime.install(before)


def agrees_with_replay(monitored: Monitored) -> bool:
    """Return whether replay of the exported spans gives the very same assessments."""
    report = replay(from_sdk(span) for span in monitored.exporter.get_finished_spans())
    live = sorted(monitored.heard.assessments, key=lambda each: each.handoff_id)
    later = sorted(report.assessments, key=lambda each: each.handoff_id)
    return [each.as_dict() for each in live] == [each.as_dict() for each in later]


@rop.stage("vector")
def vector() -> list[str]:
    """Return a list of our own."""
    return ["d1", "d2"]


def test_a_foreign_stage_in_our_handoff(monitored: Monitored) -> None:
    """A span marked by hand below our handoff is one of its stages, and no stage counts twice."""
    with rop.handoff("qa", cutoff=5) as handoff:
        handoff.select("d1")
        vector()
        with monitored.tracer.start_as_current_span("HTTP"), monitored.tracer.start_as_current_span("x") as span:
            span.set_attributes({semconv.STAGE: "mmr", semconv.RETURNED_IDS: ["d2"]})
    assert [stage.kind for stage in monitored.heard.records[0].stages] == ["vector", "mmr"]
    assert handoff.assessment.dropped_at == "mmr"
    assert agrees_with_replay(monitored)
    assert monitored.spans(semconv.SPAN_ASSESSMENT) == []


def test_a_foreign_stage_in_our_stage(monitored: Monitored) -> None:
    """A stage of ours around one marked by hand with the same list is a wrapper, live and in replay."""
    with rop.handoff("qa") as handoff:
        handoff.select("d1")
        with rop.using_stage("retriever") as stage:
            with monitored.tracer.start_as_current_span("x") as span:
                span.set_attributes({semconv.STAGE: "vector", semconv.RETURNED_IDS: ["d1"]})
            stage.returned(["d1"])
    assert [scores.stage for scores in handoff.assessment.stages] == ["vector"]
    assert agrees_with_replay(monitored)


def test_our_stage_in_a_foreign_handoff(monitored: Monitored) -> None:
    """A decorated function below a handoff span that somebody else opened is one of its stages."""
    attributes = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["d1"]}
    tracer = monitored.tracer
    with tracer.start_as_current_span("qa", attributes=attributes), tracer.start_as_current_span("HTTP"):
        vector()
    assert monitored.assessment.verdict is Verdict.PASS
    assert agrees_with_replay(monitored)


def test_our_handoff_below_a_foreign_one(monitored: Monitored) -> None:
    """Each handoff has its own stages."""
    attributes = {semconv.HANDOFF_NAME: "outer", semconv.SELECTED_IDS: ["d1"]}
    with monitored.tracer.start_as_current_span("outer", attributes=attributes), rop.handoff("qa") as handoff:
        handoff.select("d1")
        vector()
    assert {record.name: len(record.stages) for record in monitored.heard.records} == {"qa": 1, "outer": 0}
    assert agrees_with_replay(monitored)


def test_a_foreign_stage_after_our_handoff_is_late(monitored: Monitored) -> None:
    """A foreign stage that outlives our handoff is the finding ``stage_late``, and its end is counted."""
    with rop.handoff("qa") as handoff:
        handoff.select("d1")
        vector()
        slow = monitored.tracer.start_span("x", attributes={semconv.STAGE: "mmr", semconv.RETURNED_IDS: []})
    slow.end()
    assert handoff.assessment.verdict is Verdict.PASS
    assert [finding.code for finding in handoff.assessment.findings] == [ContextFinding.STAGE_LATE]
    assert monitored.heard.notices == {(Notice.LATE, ""): 1}
    assert agrees_with_replay(monitored)


def test_plain_spans_cost_our_handoff_nothing(monitored: Monitored) -> None:
    """Spans of our own API are not kept by the processor."""
    with rop.handoff("qa"), rop.using_stage("vector") as stage:
        assert len(monitored.open_spans) == 0
        stage.returned([])
