"""Every measure on every edge, and against trec_eval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from rop_otel.core.handoff.scores import SCORES, Judgments, judged_scores
from rop_otel.core.measures import ndcg, precision, recall, reciprocal_rank

ORACLE = {f"recall_{k}": f"recall@{k}" for k in (1, 3, 5, 10)}
ORACLE |= {"recip_rank": "rr", "ndcg_cut_5": "ndcg@5", "ndcg_cut_10": "ndcg@10", "P_5": "precision@5"}
ASKED = {"recall.1,3,5,10", "recip_rank", "ndcg_cut.5,10", "P.5"}


def scores_of(ids: Sequence[str], grades: Mapping[str, int]) -> Mapping[str, float]:
    """Return our scores of a list."""
    judgments = Judgments(tuple(grades), grades=tuple(grades.values()))
    return judged_scores(judgments, ids, held=frozenset(ids), cut=False)


def trec_eval(ids: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Return trec_eval's scores of a list, under our names; scores fall with rank, so that there are no ties."""
    run = {raw: float(len(ids) - place) for place, raw in enumerate(ids)}
    measures = pytrec_eval.RelevanceEvaluator({"q": dict(grades)}, ASKED).evaluate({"q": run})["q"]
    return {ours: measures[theirs] for theirs, ours in ORACLE.items()}


@pytest.mark.parametrize(
    ("gains", "relevant", "recall_3", "precision_5", "rr", "ndcg_5"),
    [
        ([], 1, 0, 0, 0, 0),
        ([0], 1, 0, 0, 0, 0),
        ([1], 1, 1, 0.2, 1, 1),
        ([1], 3, 1 / 3, 0.2, 1, 1 / (1.5 + 1 / math.log2(3))),
        ([0, 1], 1, 1, 0.2, 0.5, 1 / math.log2(3)),
        ([0, 0, 0, 1], 1, 0, 0.2, 0.25, 1 / math.log2(5)),
        ([0, 0, 0, 0, 0, 1], 1, 0, 0, 1 / 6, 0),
        ([1, 1, 1, 1, 1, 1], 6, 0.5, 1, 1, 1),
        ([0] * 2000 + [1], 1, 0, 0, 1 / 2001, 0),
    ],
)
def test_edges(gains: list[int], relevant: int, recall_3: float, precision_5: float, rr: float, ndcg_5: float) -> None:
    """Empty lists, short ones, deep hits, more relevant objects than ranks: each measure's value by hand."""
    first = gains.index(1) + 1 if 1 in gains else None
    assert recall(gains, k=3, relevant=relevant) == pytest.approx(recall_3, abs=1e-12)
    assert precision(gains, k=5) == pytest.approx(precision_5, abs=1e-12)
    assert reciprocal_rank(first) == pytest.approx(rr, abs=1e-12)
    assert ndcg(gains, k=5, ideal=[1] * relevant) == pytest.approx(ndcg_5, abs=1e-12)


def test_names() -> None:
    """The measures and their cutoffs, by the names that they are reported under."""
    assert {name: (measure.name, k) for name, (measure, k) in SCORES.items()} == {
        "recall@1": ("recall", 1),
        "recall@3": ("recall", 3),
        "recall@5": ("recall", 5),
        "recall@10": ("recall", 10),
        "rr": ("rr", 0),
        "ndcg@5": ("ndcg", 5),
        "ndcg@10": ("ndcg", 10),
        "precision@5": ("precision", 5),
    }
    assert set(scores_of(["a"], {"a": 1})) == set(SCORES)


POOL = [f"d{place}" for place in range(30)]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(POOL), min_size=1, max_size=25, unique=True),
    st.dictionaries(st.sampled_from(POOL), st.integers(-1, 4), min_size=1, max_size=15).filter(
        lambda grades: max(grades.values()) > 0
    ),
)
def test_equal_to_trec_eval(ids: list[str], grades: dict[str, int]) -> None:
    """On lists without ties and repeats every score is trec_eval's."""
    assert scores_of(ids, grades) == pytest.approx(trec_eval(ids, grades), abs=1e-12)


def test_our_rank_is_the_given_order() -> None:
    """A list whose scores are all equal keeps its order; trec_eval sorts ties by ID, which we never do."""
    ids = [f"x{place:02}" for place in range(40)]
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"x00": 1}}, {"recip_rank"})
    assert evaluator.evaluate({"q": dict.fromkeys(ids, 1.0)})["q"]["recip_rank"] == pytest.approx(1 / 40)
    assert scores_of(ids, {"x00": 1})["rr"] == 1.0
