"""Every case of the measures, against other implementations' values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from rop_otel import semconv
from rop_otel.core.handoff import Assessment, Verdict, assess
from rop_otel.core.handoff.attributes import handoff_record, stage_record
from rop_otel.core.measures import ndcg, precision, recall, reciprocal_rank
from rop_otel.core.profile import Resolver

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases" / "metrics.json").read_text())
TOLERANCE = 1e-9
NOT_OURS = ("success@", "mrr@")


def cases(*kinds: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if case["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[case["name"] for case in chosen])


def judge(ranking: list[Any], resolver: Resolver | None = None, **given: Any) -> Assessment:
    """Return the assessment of a handoff that shows the ranking; ``given`` are attributes by constant's name."""
    span = {"trace_id": "t", "start_ns": 1, "end_ns": 2}
    attributes = {semconv.STAGE: "packing", semconv.RETURNED_IDS: ranking}
    stage = stage_record(attributes, span_id="s", parent_id=None, failed=False, **span)  # type: ignore[arg-type]
    assert stage is not None
    handoff = {semconv.HANDOFF_NAME: "qa"} | {getattr(semconv, name): value for name, value in given.items()}
    return assess(handoff_record(handoff, span_id="h", stages=[stage], **span), resolver=resolver)  # type: ignore[arg-type]


def judged(ranking: list[Any], qrels: Mapping[str, int], resolver: Resolver | None = None) -> Mapping[str, float]:
    found = judge(ranking, resolver, JUDGED_IDS=list(qrels), JUDGED_GRADES=list(qrels.values()))
    [stage] = found.stages
    assert stage.judged == found.shown.judged
    return stage.judged


def ours(expected: Mapping[str, float]) -> dict[str, float]:
    """Return the expected values that are ours, under our names."""
    renamed = {"mrr": "rr"}
    return {renamed.get(name, name): value for name, value in expected.items() if not name.startswith(NOT_OURS)}


def resolver_of(case: Mapping[str, Any]) -> Resolver:
    members: dict[str, list[str]] = {}
    aliases: dict[str, list[str]] = {}
    for raw, name in case["resolver"].items():
        members.setdefault(name, [])
        if raw != name:
            (aliases if "alias" in raw else members).setdefault(name, []).append(raw)
    assert case.get("members", members) == members
    return Resolver(members, aliases=aliases)


@cases("single", "tied")
def test_single(case: dict[str, Any]) -> None:
    """A list's scores are the reference's, in the given order, ties or not; without a positive grade there are none."""
    expected = ours(case["expected"] or {})
    found = judged(case["ranking"], case["qrels"])
    if not any(grade > 0 for grade in case["qrels"].values()):
        assert found == {}
    elif "relevance_level" in case:
        # We count every positive grade; nDCG alone does not depend on the level.
        assert {name: found[name] for name in expected if name.startswith("ndcg")} == pytest.approx(
            {name: value for name, value in expected.items() if name.startswith("ndcg")}, abs=TOLERANCE
        )
    else:
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=TOLERANCE)


@cases("single")
def test_measures(case: dict[str, Any]) -> None:
    """Each measure by itself gives the reference's value, at the case's level of relevance."""
    level = case.get("relevance_level", 1)
    relevant = [grade for grade in case["qrels"].values() if grade >= level]
    if not relevant:
        return
    grades = [case["qrels"].get(str(raw), 0) for raw in case["ranking"]]
    first = [str(raw) not in map(str, case["ranking"][:place]) for place, raw in enumerate(case["ranking"])]
    gains = [max(grade, 0) if new else 0 for grade, new in zip(grades, first, strict=True)]
    hits = [gain if gain >= level else 0 for gain in gains]
    ideal = sorted((grade for grade in case["qrels"].values() if grade > 0), reverse=True)
    for name, value in ours(case["expected"]).items():
        measure, _, cutoff = name.partition("@")
        k = int(cutoff or 0)
        if measure == "recall":
            found = recall(hits, k=k, relevant=len(relevant))
        elif measure == "precision":
            found = precision(hits, k=k)
        elif measure == "ndcg":
            found = ndcg(gains, k=k, ideal=ideal)
        else:
            found = reciprocal_rank(next((rank for rank, hit in enumerate(hits, 1) if hit), None))
        assert found == pytest.approx(value, abs=TOLERANCE), name


@cases("single_resolved")
def test_resolved(case: dict[str, Any]) -> None:
    """With a resolver each object is credited once, and its other IDs use up their ranks."""
    expected = ours(case["expected"])
    found = judged(case["ranking"], case["qrels"], resolver_of(case))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=TOLERANCE)


@cases("run")
def test_run(case: dict[str, Any]) -> None:
    """The mean over the judged queries, one that is missing or has nothing relevant scoring 0, is the reference's."""
    scores = [judged(case["run"].get(query, []), qrels) for query, qrels in case["qrels"].items()]
    for name, value in ours(case["expected"]).items():
        assert fmean(score.get(name, 0.0) for score in scores) == pytest.approx(value, abs=TOLERANCE), name


@cases("rop_membership")
def test_membership(case: dict[str, Any]) -> None:
    """The selected object is present in the first k where the rule says so, and the verdict follows."""
    [k] = case["k"]
    found = judge(case["ranking"], resolver_of(case), SELECTED_IDS=list(case["qrels"]), RULE=case["rule"], CUTOFF=k)
    assert found.verdict == case["expected"]["verdict"]
    present = found.selected_rank is not None and found.selected_rank <= k
    assert float(present) == case["expected"][f"present@{k}"]


@cases("k_edge")
def test_no_cutoff_below_one(case: dict[str, Any]) -> None:
    """A cutoff below 1 is refused: the handoff's declaration is invalid, and nothing crashes."""
    [k] = case["k"]
    found = judge(case["ranking"], SELECTED_IDS=list(case["qrels"]), CUTOFF=k)
    assert (found.verdict, found.selected_rank) == (Verdict.DECLARATION_INVALID, None)


def test_every_kind_is_tested() -> None:
    """No case is of a kind that the tests above leave out."""
    kinds = {"single", "tied", "single_resolved", "run", "rop_membership", "k_edge"}
    assert {case["kind"] for case in CASES} == kinds
