"""What an assessment says, as a sentence and as JSON."""

from __future__ import annotations

import json

import pytest

from rop_otel.core.handoff import FINDINGS, Assessment, Severity
from rop_otel.core.handoff.assessment import DropCause
from tests.core.build import END, judge, stage

ERRORS = (
    "top_ranked_cut expansion_displaced starved_context labels_malformed label_duplicate label_unattached "
    "label_misattributed citation_unresolved scope_leak ids_unreadable stage_failed context_not_in_prompt"
).split()
WARNINGS = (
    "silent_cut foreign_ids fallback_used stage_not_observed stage_late nothing_returned thin_passage passage_cut"
).split()
INFOS = "duplicate_ids fusion_below_arm".split()


def test_severities() -> None:
    """Each code has the severity of the contract."""
    by_severity = {Severity.ERROR: ERRORS, Severity.WARNING: WARNINGS, Severity.INFO: INFOS}
    assert {code.value: code.severity for code in FINDINGS} == {
        code: severity for severity, codes in by_severity.items() for code in codes
    }


def test_json() -> None:
    """The dictionary is the contract's JSON: fields in order, lists as lists, verdict and cause as words."""
    result = judge(
        stage("vector", "a b b", name="dense"),
        stage("mmr", "b", round=None),
        stage("packing", "b", given="b"),
        judged="b",
        handoff_id="h1",
        trace_id="t1",
        record_id="r1",
    ).as_dict()
    text = json.dumps(result)
    assert json.loads(text) == result
    scores = set("stage name round returned implementation fallback query_form selected judged".split())
    assert list(result) == [
        "handoff_id",
        "trace_id",
        "handoff_name",
        "record_id",
        "run_id",
        "mode",
        "verdict",
        "selected_rank",
        "dropped_at",
        "dropped_at_name",
        "dropped_at_round",
        "drop_cause",
        "findings",
        "agreement",
        "joint",
        "judged_losses",
        "stages",
        "shown",
    ]
    assert {key: result[key] for key in ("handoff_id", "trace_id", "handoff_name", "record_id", "run_id", "mode")} == {
        "handoff_id": "h1",
        "trace_id": "t1",
        "handoff_name": "qa",
        "record_id": "r1",
        "run_id": None,
        "mode": "hard",
    }
    assert (result["verdict"], result["dropped_at"], result["drop_cause"]) == ("FAIL", "mmr", "diversified_away")
    assert [set(each) for each in result["stages"]] == [scores] * 3
    assert (result["stages"][0]["name"], result["stages"][0]["returned"]) == ("dense", 3)
    assert set(result["shown"]) == {"ids", "basis", "selected", "judged"}
    assert (result["agreement"], result["joint"], result["judged_losses"]) == (False, "judged_only", [])
    assert result["findings"] == [
        {
            "code": "duplicate_ids",
            "severity": "info",
            "stage": "vector",
            "name": "dense",
            "round": None,
            "ids": ["b"],
            "labels": [],
            "message": "vector returned 'b' more than once",
        }
    ]


@pytest.mark.parametrize(
    ("assessment", "sentence"),
    [
        (judge(stage("packing", "b a")), "qa: PASS, the selected object reached the reader at rank 2"),
        (
            judge(stage("packing", "b", count=5), stage("rescue", "a")),
            "qa: PASS, the selected object reached the reader",
        ),
        (
            judge(stage("vector", "a b"), stage("packing", "b")),
            "qa: FAIL, the selected object was lost at packing: packing left it out",
        ),
        (
            judge(stage("packing", "b")),
            f"qa: FAIL, the selected object was lost: {DropCause.NEVER_RETRIEVED.words}",
        ),
        (
            judge(stage("mmr", "b b"), selected=None),
            "qa: NOT_APPLICABLE, no selected object was required to reach the reader; findings: duplicate_ids at mmr",
        ),
        (
            judge(stage("packing", "a"), expected=("e1", "e2", "e3", "e4", "e5")),
            "qa: PASS, the selected object reached the reader at rank 1; findings: "
            + ", ".join(f"stage_not_observed at e{place}" for place in (1, 2, 3))
            + " and 2 more",
        ),
        (
            Assessment(handoff_name="qa", note="the monitor assesses it"),
            "qa: not assessed, the monitor assesses it",
        ),
    ],
)
def test_sentence(assessment: Assessment, sentence: str) -> None:
    """An assessment is one sentence: the handoff, the verdict and why, and the first findings."""
    assert str(assessment) == sentence


@pytest.mark.parametrize(
    ("assessment", "why"),
    [
        (
            judge(stage("packing", "a"), resolver_sha256="0123456789abcdef"),
            "the resolver that the handoff names (0123456789ab) was not given here",
        ),
        (judge(), "no stage ran in this handoff (threads and executors need carry_context)"),
        (judge(stage("reader", "a")), "no stage ran in this handoff (threads and executors need carry_context)"),
        (judge(stage("vector", "a", at=END + 1)), "each of its stages failed, or ended after the handoff"),
        (judge(stage("rescue", "a", failed=True)), "each of its stages failed, or ended after the handoff"),
        (
            judge(stage("packing", "a", failed=True), stage("rescue", "a")),
            "its packing failed, and no other one shows what the reader was given",
        ),
        (
            judge(stage("vector", "a"), stage("packing", "a", at=END + 1)),
            "its packing ended after the handoff, so what the reader was given is not known",
        ),
        (judge(stage("vector", "a"), failed=True), "the handoff failed before anything was packed for a reader"),
        (
            judge(stage("vector", "a"), stage("packing", "a", basis="unseen")),
            "the prompt was seen, and it holds no text of any document that stage packing returned",
        ),
        (judge(stage("vector", "b"), stage("packing", None)), "the IDs of stage packing could not be read"),
        (judge(stage("vector", None, name="dense", failed=True)), "stage dense failed"),
        (
            judge(stage("packing", "b", name="window", count=5)),
            "the list of stage window was cut before it could decide",
        ),
    ],
)
def test_unverifiable_says_why(assessment: Assessment, why: str) -> None:
    """A verdict that is not certain names what is not known; the JSON has the contract's keys alone."""
    assert (assessment.verdict, assessment.note) == ("UNVERIFIABLE", why)
    assert str(assessment).startswith(f"qa: UNVERIFIABLE, {why}")
    assert "note" not in assessment.as_dict()


@pytest.mark.parametrize("facts", [{"cutoff": 0}, {"selected": "-"}, {"resolver_sha256": "0"}])
def test_every_verdict_has_words(facts: dict[str, object]) -> None:
    """The other verdicts say why too."""
    result = judge(stage("packing", "a"), **facts)  # type: ignore[arg-type]
    assert str(result).startswith(f"qa: {result.verdict}, ")
