"""Handoffs out of spans that others made and that say nothing of handoffs."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.core.handoff import ContextFinding, HandoffRecord, ListFinding, Verdict
from rop_otel.replay.handoff_report import replay
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules
from tests.spans.conventions.foreign import chain, reranker, retriever
from tests.spans.trace import handoff, span, stage


def query() -> list[Span]:
    """Return a query that retrieves twice over, reranks and calls a model."""
    return [
        chain(1, name="Engine.query"),
        chain(2, parent=1),
        retriever(3, "a", "b", "c", parent=2, end_ns=10),
        retriever(4, parent=3, end_ns=9),
        reranker(11, "a b c", "c", parent=2),
        span(20, parent=2, attributes={"openinference.span.kind": "LLM"}, end_ns=30),
    ]


def only(spans: list[Span], rules: Rules | None = None) -> HandoffRecord:
    """Return the only handoff of these spans."""
    [record] = assemble(spans, rules).handoffs
    return record


def test_the_topmost_span_is_the_handoff() -> None:
    """The topmost span above retrieval is the handoff, named after it, whatever the order of the spans."""
    for order in permutations(query(), 6):
        found = assemble(order)
        assert [(record.name, len(record.stages)) for record in found.handoffs] == [("Engine.query", 3)]
        assert found.orphan_stages == 0
    [assessment] = replay(query()).assessments
    assert assessment.verdict is Verdict.NOT_APPLICABLE
    assert [(each.stage, each.returned) for each in assessment.stages] == [("retriever", 3), ("rerank", 1)]
    assert assessment.findings == ()


def test_what_the_reranker_dropped() -> None:
    """The report names the documents that a reranker was handed and did not return."""
    report = replay(query()).as_dict()["handoffs"][0]
    assert [each["dropped"] for each in report["stages"]] == [[], ["a", "b"]]


def test_a_lone_retriever_is_its_own_handoff() -> None:
    """A retriever without a span above it is a handoff of one stage."""
    record = only([retriever(1, "a", name="search")])
    assert (record.name, [each.kind for each in record.stages]) == ("search", ["retriever"])


def test_a_parent_that_was_not_recorded() -> None:
    """The topmost span is the topmost one at hand."""
    assert only([chain(2, parent=1, name="served"), retriever(3, "a", parent=2)]).name == "served"


def test_a_handoff_of_ours_takes_them_in() -> None:
    """Below a handoff of ours, foreign stages are its own and make no other."""
    spans = [
        chain(1),
        handoff(2, "b", parent=1, given={semconv.CUTOFF: 1}),
        *[retriever(4, "a", "b", parent=3), reranker(6, "a b", "a", parent=3), chain(3, parent=2)],
    ]
    [assessment] = replay(spans).assessments
    assert (assessment.handoff_name, assessment.verdict, assessment.dropped_at) == ("qa", Verdict.FAIL, "rerank")


def test_beside_a_handoff_of_ours_nothing_is_guessed() -> None:
    """Where the application says what its handoffs are, retrieval outside of them is counted, not made another."""
    found = assemble([chain(1), handoff(2, parent=1), stage(3, "vector", "a", parent=2), retriever(5, "x", parent=1)])
    assert [record.name for record in found.handoffs] == ["qa"]
    assert found.orphan_stages == 1


def test_our_stages_below_a_foreign_handoff() -> None:
    """A stage set by hand below a span that foreign retrieval makes a handoff belongs to it too."""
    record = only([chain(1), retriever(2, "a", parent=1), stage(4, "packing", "a", parent=1)])
    assert {each.kind for each in record.stages} == {"retriever", "packing"}


def test_our_stages_alone_make_no_handoff() -> None:
    """Our attributes have a handoff of their own, so without foreign retrieval nothing is made one."""
    assert assemble([chain(1), stage(2, "vector", "a", parent=1)]).orphan_stages == 1


def test_which_span_is_a_handoff_can_be_said() -> None:
    """The topmost span with a name that matches is the handoff; without one there is none."""
    rules = Rules(handoffs=(re.compile(r".*\.query"),))
    served = [
        span(99, name="GET /"),
        *[each if each.parent_id else chain(1, name=each.name, parent=99) for each in query()],
    ]
    assert only(served).name == "GET /"
    assert only(served, rules).name == "Engine.query"
    found = assemble([chain(1), retriever(2, "a", parent=1)], rules)
    assert (found.handoffs, found.orphan_stages) == ((), 1)


@pytest.mark.parametrize("given", ["b", ["b"], '["b"]'])
def test_where_the_selection_is_can_be_said(given: object) -> None:
    """An attribute of the handoff span holds what was selected: an ID, several, or several as JSON."""
    spans = [
        chain(1, given={"app.selected": given}),
        retriever(2, "a", "b", parent=1),
        reranker(4, "a b", "a", parent=1),
    ]
    [assessment] = replay(spans, rules=Rules(selected="app.selected")).assessments
    assert (assessment.verdict, assessment.dropped_at) == (Verdict.FAIL, "rerank")
    [assessment] = replay(spans).assessments
    assert assessment.verdict is Verdict.NOT_APPLICABLE


def test_our_attributes_on_the_topmost_span() -> None:
    """A selection in our own attribute, as baggage puts it on every span, needs no setting."""
    spans = [chain(1, given={semconv.SELECTED_IDS: "b", semconv.CUTOFF: 1}), retriever(2, "b", parent=1)]
    [assessment] = replay(spans).assessments
    assert (assessment.verdict, assessment.selected_rank) == (Verdict.PASS, 1)


def test_documents_without_ids_decide_nothing() -> None:
    """Without IDs the verdict is UNVERIFIABLE, never FAIL; a metadata key gives them."""
    given = {"retrieval.documents.0.document.metadata": '{"source": "b"}'}
    spans = [chain(1, given={semconv.SELECTED_IDS: "b"}), retriever(2, None, parent=1, given=given)]
    [assessment] = replay(spans).assessments
    assert assessment.verdict is Verdict.UNVERIFIABLE
    assert [finding.code for finding in assessment.findings] == [ListFinding.IDS_UNREADABLE]
    [assessment] = replay(spans, rules=Rules(id_keys=("source",))).assessments
    assert assessment.verdict is Verdict.PASS


def test_a_span_that_lost_attributes_decides_nothing() -> None:
    """Where what was lost may hold the selected object, the verdict is UNVERIFIABLE."""
    spans = [chain(1, given={semconv.SELECTED_IDS: "z"}), retriever(2, "a", "b", parent=1, dropped_attributes=9)]
    [assessment] = replay(spans).assessments
    assert assessment.verdict is Verdict.UNVERIFIABLE


def test_a_declared_reranker_that_nobody_saw() -> None:
    """A declared stage without a span is a finding, and the loss stands there."""
    given = {semconv.SELECTED_IDS: "b", semconv.EXPECTED_STAGES: ["retriever", "rerank", "packing"]}
    spans = [chain(1, given=given), retriever(2, "a", "b", parent=1), stage(4, "packing", "a", parent=1)]
    [assessment] = replay(spans).assessments
    assert [finding.code for finding in assessment.findings] == [ContextFinding.STAGE_NOT_OBSERVED]
    assert (assessment.dropped_at, assessment.drop_cause) == ("rerank", "unobserved_stage")


def test_a_late_stage() -> None:
    """A stage that ends after the span that is the handoff is late."""
    spans = [chain(1, end_ns=9), retriever(2, "a", parent=1), retriever(3, "b", parent=1, end_ns=10)]
    [assessment] = replay(spans).assessments
    assert [finding.code for finding in assessment.findings] == [ContextFinding.STAGE_LATE]


def test_parents_in_a_ring() -> None:
    """Spans that only a broken writer makes come to an end."""
    found = assemble([chain(1, parent=2), chain(2, parent=1), retriever(3, "a", parent=2)])
    assert len(found.handoffs) == 1
