"""Cases from the field: what tools that do part of this job got wrong."""

from __future__ import annotations

import math

import pytest

from rop_otel.core.handoff.attributes import handoff_record, stage_record
from rop_otel.core.profile import Resolver
from tests.core.build import END, codes, found, judge, lost, stage, the, words


def test_a_document_returned_twice_counts_once() -> None:
    """Judged a, returned a twice: everything is 1; a document behind two of another is not within two ranks."""
    twice = judge(stage("vector", "a a"), judged="a").stages[0].judged
    assert (twice["recall@3"], twice["ndcg@5"], twice["rr"]) == (1.0, 1.0, 1.0)
    behind = judge(stage("vector", "a a a b"), judged="b").stages[0].judged
    assert (behind["recall@3"], behind["rr"]) == (0.0, 0.25)
    half = judge(stage("vector", "A A"), judged="A B").stages[0].judged
    assert half["recall@3"] == half["recall@10"] == 0.5


def test_the_ideal_is_of_all_judged() -> None:
    """Judged three, returned one of them: nDCG is against the ideal of three, not of what came back."""
    scores = judge(stage("vector", "a"), judged="a b c").stages[0].judged
    assert scores["ndcg@5"] == pytest.approx(1 / (1 + 1 / math.log2(3) + 0.5), abs=1e-12)
    assert round(scores["ndcg@5"], 4) == 0.4693


def test_a_judged_null_is_not_in_the_ideal() -> None:
    """A judged ID that is no string is malformed and takes nothing from the scores."""
    assert judge(stage("vector", "x"), judged="x -").stages[0].judged["ndcg@5"] == 1.0


def test_numbers_and_strings_are_one_id() -> None:
    """Judged the integer 1, returned the string: a hit, never a silent zero."""
    attributes = {"rop.handoff.name": "qa", "rop.judged.ids": [1]}
    vector = stage_record(
        {"rop.stage": "vector", "rop.returned.ids": ["1"]},
        trace_id="t",
        span_id="s",
        parent_id=None,
        start_ns=0,
        end_ns=1,
        failed=False,
    )
    assert vector is not None
    record = handoff_record(attributes, trace_id="t", span_id="h", start_ns=0, end_ns=END, stages=[vector])
    assert record.judged == ("1",)
    assert judge(*record.stages, selected=None, judged="1").stages[0].judged["recall@1"] == 1.0


def test_two_hops() -> None:
    """Each hop has scores and findings of its own, and the loss is at the hop that lost it."""
    result = judge(
        stage("vector", "b1 x", round=1),
        stage("rerank", "b1", round=1),
        stage("vector", "a y y", round=2),
        stage("rerank", "y", round=2),
        stage("packing", "b1 y"),
        judged="b1 a",
    )
    assert [(each.stage, each.round, each.judged["recall@1"]) for each in result.stages] == [
        ("vector", 1, 0.5),
        ("rerank", 1, 0.5),
        ("vector", 2, 0.5),
        ("rerank", 2, 0.0),
        ("packing", None, 0.5),
    ]
    assert the(result, "duplicate_ids").round == 2
    assert result.drop is not None
    assert (result.dropped_at, result.drop.round, result.drop_cause) == ("rerank", 2, "reranked_away")


def test_one_of_four_recorded() -> None:
    """A span that lists one of four returned chunks proves no loss."""
    assert judge(stage("vector", "x", count=4)).verdict == "UNVERIFIABLE"


def test_same_text_other_id() -> None:
    """The fused list kept a copy of the selected document: lost at fusion, unless both are one object."""
    stages = (stage("vector", "A"), stage("lexical", "B"), stage("fusion", "B"))
    assert lost(*stages, selected="A") == ("fusion", "fused_out")
    assert judge(*stages, selected="A", resolver=Resolver({"text": ["A", "B"]})).verdict == "PASS"


def test_a_declared_stage_without_a_span() -> None:
    """Held by vector, missing in packing, and no span of the rerank between them: that is where it was lost."""
    stages = (stage("vector", "a b"), stage("packing", "b"))
    result = judge(*stages, expected=("vector", "rerank", "packing"))
    assert codes(result) == [("stage_not_observed", "rerank")]
    assert (result.verdict, result.dropped_at, result.drop_cause) == ("FAIL", "rerank", "unobserved_stage")


def test_reordered_prompt() -> None:
    """Prompt order A C D B, response sources A B: the second label is of another chunk, the rest of none."""
    packing = stage("packing", "A C D B", labels="S1 S2 S3 S4")
    result = judge(packing, stage("reader", "A B", citations=words("S1 S2 S3 S4")), selected=None)
    assert (the(result, "label_misattributed").labels, the(result, "label_misattributed").ids) == (("S2",), ("B", "C"))
    assert (the(result, "label_unattached").labels, the(result, "label_unattached").ids) == (("S3", "S4"), ("B", "D"))
    assert found(result, "citation_unresolved") == []


def test_labels_of_one_turn() -> None:
    """The second turn's first label is resolved among the second turn's labels alone."""
    turns = (
        stage("packing", "a b", labels="S1 S2", round=1),
        stage("reader", "a b", round=1, citations=("S2",)),
        stage("packing", "c", labels="S1", round=2),
        stage("reader", "c", round=2, citations=("S1", "S2")),
    )
    result = judge(*turns, selected=None)
    assert [(each.round, each.labels) for each in result.findings] == [(2, ("S2",))]
