"""Spans that others mark with our attributes, taken in while they run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AnyValue

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.config import Config
from rop_otel.core.handoff import ContextFinding, DropCause, Notice, Verdict
from rop_otel.core.profile.resolver import Resolver
from rop_otel.export.foreign_span import ForeignSpan
from rop_otel.export.processor import RopSpanProcessor
from rop_otel.replay.handoff_report import replay
from rop_otel.spans.sdk import from_sdk
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Monitored

QA: dict[str, AnyValue] = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["d1"], semconv.CUTOFF: 5}


@contextmanager
def stage(tracer: Tracer, kind: str, *ids: str, late: bool = True, **more: Any) -> Iterator[Span]:
    """Run a stage whose attributes are set by hand, at its end or from the start."""
    facts: dict[str, AnyValue] = {semconv.STAGE: kind, semconv.RETURNED_IDS: list(ids)}
    with tracer.start_as_current_span(kind, attributes=None if late else facts, **more) as span:
        yield span
        if late:
            span.set_attributes(facts)


def replayed(monitored: Monitored) -> list[dict[str, Any]]:
    """Return the assessments of the same spans read later."""
    report = replay(from_sdk(span) for span in monitored.exporter.get_finished_spans())
    return [assessment.as_dict() for assessment in report.assessments]


def test_a_handoff_made_by_hand_is_assessed_at_its_end() -> None:
    """Stages below a handoff span, spans of other kinds in between, give the verdict that replay gives."""
    monitored = Monitored()
    with monitored.tracer.start_as_current_span("qa", attributes=QA):
        with monitored.tracer.start_as_current_span("HTTP GET"), stage(monitored.tracer, "vector", "d1", "d2"):
            pass
        with stage(monitored.tracer, "mmr", "d2", late=False):
            pass
    assert (monitored.assessment.verdict, monitored.assessment.dropped_at) == (Verdict.FAIL, "mmr")
    assert [monitored.assessment.as_dict()] == replayed(monitored)
    assert monitored.runtime.ledger.open_count() == 0


def test_the_verdict_is_a_child_span_with_a_link() -> None:
    """The handoff span has ended, so its verdict stands on a span below it that links to it."""
    monitored = Monitored()
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", "d2"):
        pass
    (handoff,), (verdict,) = monitored.spans("qa"), monitored.spans(semconv.SPAN_ASSESSMENT)
    assert verdict.parent is not None
    assert verdict.parent.span_id == handoff.context.span_id
    assert [link.context.span_id for link in verdict.links] == [handoff.context.span_id]
    assert dict(verdict.attributes or {}) == {
        semconv.VERDICT: "FAIL",
        semconv.FINDINGS: (),
        semconv.DROP_CAUSE: DropCause.NEVER_RETRIEVED.value,
    }
    assert (verdict.start_time, verdict.end_time) == (handoff.end_time, handoff.end_time)


def test_added_without_configure_it_says_where_verdicts_are_missing(caplog: pytest.LogCaptureFixture) -> None:
    """On a provider that is not the global one handoffs are assessed and logged, and one warning says what to do."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(RopSpanProcessor(lambda: Runtime(Config.resolve(environ={}))))
    tracer = provider.get_tracer("application")
    caplog.set_level("INFO", logger="rop_otel")
    with tracer.start_as_current_span("qa", attributes=QA), stage(tracer, "vector", "d2"):
        pass
    assert "qa: FAIL, the selected object was lost: no list holds it" in caplog.text
    assert "call rop_otel.configure(tracer_provider=...)" in caplog.text


def test_a_handoff_marked_at_its_end_is_one() -> None:
    """The handoff's attributes too may come as late as its end."""
    monitored = Monitored()
    with monitored.tracer.start_as_current_span("qa") as span:
        with stage(monitored.tracer, "vector", "d1"):
            pass
        span.set_attributes(QA)
    assert monitored.assessment.verdict is Verdict.PASS
    assert [monitored.assessment.as_dict()] == replayed(monitored)


def test_stages_belong_to_the_nearest_handoff() -> None:
    """A handoff within a handoff has its own stages, and the outer one does not count them."""
    monitored = Monitored()
    outer: dict[str, AnyValue] = {semconv.HANDOFF_NAME: "outer", semconv.SELECTED_IDS: ["d1"]}
    with monitored.tracer.start_as_current_span("outer") as span:
        with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", "d1"):
            pass
        with stage(monitored.tracer, "lexical", "d2"):
            pass
        span.set_attributes(outer)
    assert {record.name: [each.kind for each in record.stages] for record in monitored.heard.records} == {
        "qa": ["vector"],
        "outer": ["lexical"],
    }
    assert sorted(map(str, replayed(monitored))) == sorted(str(each.as_dict()) for each in monitored.heard.assessments)


def test_a_stage_elsewhere_belongs_to_the_handoff_that_it_names() -> None:
    """A stage in another thread, in a trace of its own, finds its handoff by the ID."""
    monitored = Monitored()

    def search() -> None:
        with stage(monitored.tracer, "vector", "d1", late=False) as span:
            span.set_attribute(semconv.HANDOFF_ID, "h7")

    with monitored.tracer.start_as_current_span("qa", attributes=QA | {semconv.HANDOFF_ID: "h7"}):
        thread = Thread(target=search)
        thread.start()
        thread.join()
    assert monitored.assessment.handoff_id == "h7"
    assert monitored.assessment.verdict is Verdict.PASS


def test_a_wrapper_is_seen_through() -> None:
    """A stage around another with the same list is left out, as in replay, though it was marked last."""
    monitored = Monitored()
    with (
        monitored.tracer.start_as_current_span("qa", attributes=QA),
        stage(monitored.tracer, "retriever", "d1"),
        monitored.tracer.start_as_current_span("HTTP GET"),
        stage(monitored.tracer, "vector", "d1"),
    ):
        pass
    assert [scores.stage for scores in monitored.assessment.stages] == ["vector"]
    assert [monitored.assessment.as_dict()] == replayed(monitored)


def test_a_stage_that_goes_on_after_its_handoff_is_late() -> None:
    """A stage that outlives its handoff is the finding ``stage_late``; its end is counted."""
    monitored = Monitored()
    handoff = monitored.tracer.start_span("qa", attributes=QA)
    below = set_span_in_context(handoff, Context())
    with stage(monitored.tracer, "vector", "d1", context=below):
        pass
    slow = monitored.tracer.start_span("mmr", below, attributes={semconv.STAGE: "mmr", semconv.RETURNED_IDS: ["d2"]})
    handoff.end()
    slow.end()
    assert [finding.code for finding in monitored.assessment.findings] == [ContextFinding.STAGE_LATE]
    assert monitored.assessment.verdict is Verdict.PASS
    assert monitored.heard.notices == {(Notice.LATE, ""): 1}


def test_a_failed_stage_is_one() -> None:
    """The span's status says whether a stage failed."""
    monitored = Monitored()
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "packing", "d1") as span:
        span.set_status(Status(StatusCode.ERROR))
    assert [each.failed for each in monitored.heard.records[0].stages] == [True]


def test_a_failed_handoff_is_one() -> None:
    """The handoff span's status says whether it failed, also where it does not say that it is a handoff."""
    monitored = Monitored()
    retriever: dict[str, AnyValue] = {semconv.OPENINFERENCE_SPAN_KIND: "RETRIEVER"}
    for attributes in (QA, retriever):
        with monitored.tracer.start_as_current_span("qa", attributes=attributes) as span:
            span.set_status(Status(StatusCode.ERROR))
    later = assemble(map(from_sdk, monitored.exporter.get_finished_spans())).handoffs
    assert [record.failed for record in monitored.heard.records] == [record.failed for record in later] == [True] * 2


def test_sixty_documents_are_still_seen() -> None:
    """On a plain tracer provider, a list of sixty keeps its best rank."""
    monitored = Monitored()
    ids = [f"d{number}" for number in range(1, 61)]
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", *ids):
        pass
    assert (monitored.assessment.verdict, monitored.assessment.selected_rank) == (Verdict.PASS, 1)


def test_dropped_attributes_make_the_rest_uncertain() -> None:
    """A span that lost attributes to a limit may have lost some of its list: nothing is blamed for what is missing."""
    monitored = Monitored(limits=SpanLimits(max_span_attributes=3))
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", "d2") as span:
        span.set_attributes({"a": 1, "b": 2, "c": 3})
    assert monitored.assessment.verdict is Verdict.UNVERIFIABLE


def test_the_resolver_in_force_is_used() -> None:
    """A chunk counts as the object that it belongs to."""
    monitored = Monitored(resolver=Resolver({"d1": ["d1#0"]}))
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", "d1#0"):
        pass
    assert monitored.assessment.verdict is Verdict.PASS


def test_too_many_open_handoffs_are_rejected() -> None:
    """Beyond the cap a handoff is not assessed, and counted."""
    monitored = Monitored(max_open=1)
    tracer = monitored.tracer
    with tracer.start_as_current_span("first", attributes=QA), tracer.start_as_current_span("second", attributes=QA):
        pass
    assert len(monitored.heard.assessments) == 1
    assert monitored.heard.notices[Notice.REJECTED, ""] >= 1


def test_traces_without_our_attributes_leave_nothing() -> None:
    """After its spans have ended nothing is held of a trace, and a span that never ends holds only itself."""
    monitored = Monitored()
    root = monitored.tracer.start_span("worker")
    below, tracer = set_span_in_context(root, Context()), monitored.tracer
    for _ in range(50):
        with tracer.start_as_current_span("job", context=below), tracer.start_as_current_span("part"):
            pass
    assert len(monitored.open_spans) == 1
    root.end()
    assert len(monitored.open_spans) == 0


def test_a_span_that_nobody_ends_is_forgotten() -> None:
    """A handoff span that is dropped without an end leaves nothing, and counts as expired."""
    monitored = Monitored()
    monitored.tracer.start_span("qa", attributes=QA)
    gc.collect()
    assert len(monitored.open_spans) == 0
    assert monitored.runtime.ledger.open_count() == 0
    assert monitored.heard.notices == {(Notice.EXPIRED, ""): 1}


def test_spans_that_follow_one_another_make_no_chain() -> None:
    """Where each span starts below one that is about to end, for ever, the ended ones are let go."""
    gc.collect()
    before = len([each for each in gc.get_objects() if type(each) is ForeignSpan])
    monitored = Monitored()
    span = monitored.tracer.start_span("first")
    for number in range(200):
        attributes = QA if number % 20 == 0 else None
        following = monitored.tracer.start_span("next", set_span_in_context(span, Context()), attributes=attributes)
        span.end()
        span = following
    gc.collect()
    assert len([each for each in gc.get_objects() if type(each) is ForeignSpan]) - before <= 5
    span.end()


def test_stages_without_a_handoff_do_not_pile_up() -> None:
    """Below a span that goes on for ever, stages that belong to no handoff are given up after the time to live."""
    monitored = Monitored(ttl_seconds=0.001)
    root = monitored.tracer.start_span("worker")
    for number in range(50):
        start = number * 1_000_000_000
        attributes: dict[str, AnyValue] = {semconv.STAGE: "vector", semconv.RETURNED_IDS: [f"orphan {number}"]}
        below = set_span_in_context(root, Context())
        monitored.tracer.start_span("orphan", below, attributes=attributes, start_time=start).end(start + 1)
    monitored.exporter.clear()
    gc.collect()
    kept = [each for each in gc.get_objects() if issubclass(type(each), ReadableSpan) and each.name == "orphan"]
    assert len(kept) <= 2


def test_a_processor_added_twice_counts_once() -> None:
    """Configured by hand and by configure(), it assesses a handoff once."""
    monitored = Monitored()
    monitored.provider.add_span_processor(RopSpanProcessor(lambda: monitored.active, spans=monitored.open_spans))
    with monitored.tracer.start_as_current_span("qa", attributes=QA), stage(monitored.tracer, "vector", "d1"):
        pass
    assert monitored.assessment.verdict is Verdict.PASS
    assert len(monitored.spans(semconv.SPAN_ASSESSMENT)) == 1
    assert not monitored.heard.notices


def test_nothing_is_done_when_there_is_nothing_to_work_with() -> None:
    """While the monitor is shut down, spans pass."""
    monitored = Monitored()
    monitored.active = None
    with monitored.tracer.start_as_current_span("qa", attributes=QA):
        pass
    assert monitored.heard.assessments == []
    assert len(monitored.open_spans) == 0


def test_what_goes_wrong_stays_inside(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A failure of ours is counted and logged once; the application's own exception and later processors are served."""
    monitored = Monitored()
    monkeypatch.setattr("rop_otel.assembling.span_facts.stage_record", _explode)

    def application() -> None:
        with monitored.tracer.start_as_current_span("qa", attributes=QA):
            with stage(monitored.tracer, "vector", "d1"):
                pass
            raise ValueError("the application's")

    for _ in range(3):
        with pytest.raises(ValueError, match="the application's"):
            application()
    assert monitored.heard.notices[Notice.ERROR, Problem.PROCESSOR] >= 3
    assert len([record for record in caplog.records if record.name == "rop_otel"]) == 1
    assert len(monitored.spans("qa")) == 3


def _explode(*_arguments: object, **_named: object) -> None:
    raise RuntimeError("ours")
