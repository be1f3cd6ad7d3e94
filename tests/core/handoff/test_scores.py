"""Scores of stages and of the shown list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from tests.core.build import CHUNKS, judge, stage

ALL = {"recall@1", "recall@3", "recall@5", "recall@10", "rr", "ndcg@5", "ndcg@10", "precision@5"}
ZERO = dict.fromkeys(ALL, 0.0)
FIVE, TEN = {"recall@1", "recall@3", "recall@5", "ndcg@5", "precision@5"}, ALL - {"rr"}


def judged(returned: str | None, objects: str, *, count: int | None = None, **facts: Any) -> Mapping[str, float]:
    """Return the judged scores of one list."""
    return judge(stage("vector", returned, count=count), judged=objects, **{"selected": None, **facts}).stages[0].judged


def selected(returned: str | None, *, count: int | None = None, **facts: Any) -> Mapping[str, float]:
    """Return the selected scores of one list."""
    return judge(stage("vector", returned, count=count), **facts).stages[0].selected


class TestSelected:
    """The selected object as one relevant object at its rank."""

    @pytest.mark.parametrize("rank", range(1, 13))
    def test_by_rank(self, rank: int) -> None:
        """Recall is 1 or 0, rr one over the rank, nDCG one over log2 of it plus one, precision a fifth or 0."""
        ids = " ".join(f"x{place}" for place in range(1, rank)) + " a y z"
        expected = {f"recall@{k}": float(rank <= k) for k in (1, 3, 5, 10)}
        expected |= {f"ndcg@{k}": 1 / math.log2(1 + rank) if rank <= k else 0.0 for k in (5, 10)}
        expected |= {"rr": 1 / rank, "precision@5": 0.2 if rank <= 5 else 0.0}
        assert selected(ids) == pytest.approx(expected, abs=1e-12)

    def test_absent(self) -> None:
        """A whole list without it scores 0, an empty one too; an unreadable one scores nothing."""
        assert selected("b c") == selected("") == ZERO
        assert selected(None) == {}

    def test_several_ids_of_one_object(self) -> None:
        """Only the first counts, so precision is never more than a fifth."""
        scores = selected("doc#0 doc#1 doc", selected="doc", resolver=CHUNKS)
        assert (scores["precision@5"], scores["ndcg@10"]) == (0.2, 1.0)

    def test_rank_under_all(self) -> None:
        """Under ``all`` the rank is where the last member comes."""
        scores = selected("doc#1 x doc#0", selected="doc", rule="all", resolver=CHUNKS)
        assert (scores["rr"], scores["recall@1"], scores["recall@3"]) == (1 / 3, 0.0, 1.0)

    @pytest.mark.parametrize(
        ("ids", "decided"), [("", set()), ("b", {"recall@1"}), ("b b b b", {"recall@1", "recall@3"})]
    )
    def test_cut_without_it(self, ids: str, decided: set[str]) -> None:
        """Of a cut list only the measures whose ranks are all recorded are decided."""
        assert selected(ids, count=99) == dict.fromkeys(decided, 0.0)
        assert set(selected(ids + " b" * (5 - len(ids.split())), count=99)) == FIVE
        assert set(selected(ids + " b" * (10 - len(ids.split())), count=99)) == TEN

    def test_cut_with_it(self) -> None:
        """A cut list that holds it decides everything."""
        assert selected("b a", count=99) == selected("b a")

    def test_present(self) -> None:
        """A stage has it, has it not, or that is not known."""
        cases = [
            ("a", 1, True),
            ("b", None, False),
            ("b", 2, None),
            ("a", 2, True),
            (None, None, None),
            ("", None, False),
        ]
        for ids, count, present in cases:
            assert judge(stage("vector", ids, count=count)).stages[0].present is present
        assert judge(stage("vector", "a"), selected=None).stages[0].present is None


class TestJudged:
    """Judged objects, over canonical objects."""

    @pytest.mark.parametrize(
        ("objects", "grades"), [("", ()), ("-", ()), ("a", (0,)), ("a b", (0, -3)), ("- a", (5, 0))]
    )
    def test_no_positive_grade(self, objects: str, grades: tuple[int, ...]) -> None:
        """Without a judged object of a positive grade nothing is scored, never a zero."""
        assert judged("a b", objects, grades=grades) == {}

    def test_missing_grades_are_one(self) -> None:
        """Grades shorter than the IDs leave the rest at 1; longer ones are not used."""
        assert judged("a b", "a b", grades=(1,)) == judged("a b", "a b") == judged("a b", "a b", grades=(1, 1, 7))

    def test_graded_gain_is_linear(self) -> None:
        """The gain in nDCG is the grade as it is, its ideal from every judged object in descending grade."""
        scores = judged("b a", "a b", grades=(3, 1))
        expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
        assert scores["ndcg@5"] == pytest.approx(expected, abs=1e-12)
        assert (scores["recall@1"], scores["recall@3"], scores["precision@5"]) == (0.5, 1.0, 0.4)

    def test_negative_grades_are_not_relevant(self) -> None:
        """A grade of 0 or less is not relevant: neither gain nor part of the ideal."""
        assert judged("b a", "a b c", grades=(1, -2, 0)) == judged("b a", "a")

    def test_highest_grade_of_an_object(self) -> None:
        """Several judged IDs of one object count once, with the highest grade; so do repeats."""
        facts: dict[str, Any] = {"resolver": CHUNKS}
        several = judged("x doc", "doc#0 doc#1 x", grades=(1, 3, 2), **facts)
        assert several == judged("x doc", "doc x", grades=(3, 2), **facts)
        assert judged("a", "a a b", grades=(1, 2, 1)) == judged("a", "a b", grades=(2, 1))
        assert judged("doc", "doc#0", grades=(0,), **facts) == {}
        assert judged("doc", "doc#0 doc#1", grades=(0, 1), **facts)["rr"] == 1.0

    def test_later_ids_of_an_object_use_up_a_rank(self) -> None:
        """The first ID of an object scores; later ones score nothing."""
        scores = judged("doc#0 doc#1 other", "doc other", resolver=CHUNKS)
        assert (scores["recall@1"], scores["recall@3"]) == (0.5, 1.0)
        assert scores["ndcg@5"] == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)), abs=1e-12)

    def test_unknown_to_the_resolver(self) -> None:
        """An ID that the resolver does not know stands for itself, judged or returned."""
        assert judged("x q", "q", resolver=CHUNKS)["rr"] == 0.5
        assert judged("x", "q", resolver=CHUNKS) == ZERO

    def test_huge_grades(self) -> None:
        """Grades beyond what a float can tell apart do not make a score fail."""
        assert judged("a", "a b", grades=(10**400, 10**400))["ndcg@5"] == pytest.approx(1 / (1 + 1 / math.log2(3)))

    def test_more_judged_than_ranks(self) -> None:
        """The ideal of nDCG@5 is of five objects, recall is over all of them."""
        ids = " ".join(f"j{place}" for place in range(20))
        scores = judged(ids, ids)
        assert (scores["ndcg@5"], scores["ndcg@10"], scores["recall@10"], scores["precision@5"]) == (1, 1, 0.5, 1)

    @pytest.mark.parametrize(
        ("ids", "decided"),
        [
            ("", set()),
            ("x", {"recall@1"}),
            ("x x x", {"recall@1", "recall@3"}),
            ("x x x x x", FIVE),
            ("x x x x x x x x x x", TEN),
            ("j1", {"recall@1", "rr"}),
            ("x j1 x x x", FIVE | {"rr"}),
            ("j1 x j2", ALL),
        ],
    )
    def test_cut(self, ids: str, decided: set[str]) -> None:
        """A cut list decides what its recorded ranks, a first hit (rr), or all judged objects in it decide."""
        whole, cut = judged(ids, "j1 j2"), judged(ids, "j1 j2", count=99)
        assert set(cut) == decided
        assert cut == {name: whole[name] for name in decided}


class TestShown:
    """The known shown list is scored like a stage."""

    def test_known_part(self) -> None:
        """Texts of no tokens are left out, and what lies behind a cut list is not known."""
        packing = stage("packing", "x j a", id_tokens=(0, 5, 5))
        result = judge(packing, judged="j")
        assert (result.stages[0].judged["rr"], result.shown.judged["rr"]) == (0.5, 1.0)
        assert (result.stages[0].selected["rr"], result.shown.selected["rr"]) == (1 / 3, 0.5)
        behind = judge(stage("packing", "x", count=9), stage("rescue", "a j"), judged="j")
        assert (set(behind.shown.selected), set(behind.shown.judged)) == ({"recall@1"}, {"recall@1"})

    def test_a_cut_stage_that_shows_nothing_recorded(self) -> None:
        """The shown list is cut where a later stage's list is, though nothing of that was recorded."""
        result = judge(stage("packing", "x y z"), stage("rescue", "", count=5))
        assert set(result.shown.selected) == {"recall@1", "recall@3"}
        assert set(result.stages[0].selected) == ALL

    def test_over_the_stages(self) -> None:
        """Ranks go on from packing to rescue."""
        result = judge(stage("packing", "x y"), stage("rescue", "a"))
        assert (result.shown.selected["rr"], result.stages[1].selected["rr"]) == (1 / 3, 1.0)


class TestWhichStages:
    """Stages in the assessment."""

    def test_no_readers(self) -> None:
        """Readers are left out, and do not shift the scores of others."""
        result = judge(stage("vector", "x a"), stage("reader", "a"), stage("packing", "a", name="p", round=3))
        assert [(each.stage, each.name, each.round) for each in result.stages] == [
            ("vector", None, None),
            ("packing", "p", 3),
        ]
        assert [each.selected["rr"] for each in result.stages] == [0.5, 1.0]

    @pytest.mark.parametrize(
        ("ids", "count", "returned"),
        [("a b", None, 2), ("a b", 9, 9), ("a b", 1, 2), ("", None, 0), (None, None, None)],
    )
    def test_true_count(self, ids: str | None, count: int | None, returned: int | None) -> None:
        """The true count where the list was cut, None where it is unreadable."""
        assert judge(stage("vector", ids, count=count)).stages[0].returned == returned

    def test_selected_and_judged_are_apart(self) -> None:
        """Each is given where it can be."""
        only_judged = judge(stage("vector", "a"), selected=None, judged="a").stages[0]
        only_selected = judge(stage("vector", "a")).stages[0]
        assert (only_judged.selected, set(only_judged.judged)) == ({}, ALL)
        assert (set(only_selected.selected), only_selected.judged) == (ALL, {})
