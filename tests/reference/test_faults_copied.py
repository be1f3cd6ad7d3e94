"""Handoffs of a broken pipeline, copied as tests."""

from __future__ import annotations

import io

import pytest

import rop_otel as rop
from rop_otel.cli.page import assessed_set
from rop_otel.page import Carried, write_page
from rop_otel.reference.corpus import Question
from rop_otel.reference.faults import FAULTS, find_fault
from rop_otel.reference.recording import KeptSpans, recording_provider
from rop_otel.reference.tools import Tools
from rop_otel.replay import replay
from tests.page.shapes import check as check_shape
from tests.page.test_copied import check
from tests.page.unpacked import blocks, details
from tests.reference.test_pipeline import run, sized


@pytest.mark.parametrize("name", list(FAULTS))
def test_copied_tests_fail_as_the_faulty_handoffs_did(
    tools: Tools, questions: tuple[Question, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function of each handoff comes to its verdict, loss and findings; one of them at least has the fault's."""
    fault, kept = find_fault(name), KeptSpans()
    provider = recording_provider(kept, service_name="test")
    resolver = tools.index.corpus.resolver
    rop.configure(resolver=resolver, tracer_provider=provider)
    try:
        run(sized(tools, name), questions, fault)
    finally:
        rop.shutdown()
        provider.shutdown()
    report = replay(kept.take(), resolver=resolver)
    stream = io.BytesIO()
    write_page([assessed_set("set", report, Carried())], stream)
    found = blocks(stream.getvalue())
    check_shape(found, details(found))
    for assessment, detail in zip(report.assessments, details(found), strict=True):
        check(assessment, detail["test"], monkeypatch)
    codes = {finding.code for assessment in report.assessments for finding in assessment.findings}
    assert fault.finding in codes


def test_kept_spans_are_kept_until_they_are_taken() -> None:
    """Spans that end after the others were taken, as while the demo serves, take no memory."""
    kept = KeptSpans()
    provider = recording_provider(kept, service_name="test")
    tracer = provider.get_tracer("test")
    tracer.start_span("first").end()
    assert [span.name for span in kept.take()] == ["first"]
    tracer.start_span("second").end()
    assert kept.take() == []
    provider.shutdown()
