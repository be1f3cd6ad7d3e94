"""Findings about what was ranked best and then dropped, displaced or fused away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rop_otel.core.handoff import StageRecord
from tests.core.build import CHUNKS, found, judge, stage, the

CUTTING = ["candidates", "reorder", "sentence_selection", "packing", "dedupe"]


def scored(kind: str, returned: str, *scores: float, **facts: Any) -> StageRecord:
    """Return a stage with scores."""
    return stage(kind, returned, scores=scores, **facts)


def best(*stages: StageRecord, **facts: Any) -> str:
    """Return the IDs of the finding ``top_ranked_cut``, if any."""
    return " ".join(each for finding in found(judge(*stages, **facts), "top_ranked_cut") for each in finding.ids)


RERANKED = scored("rerank", "a b c", 0.9, 0.8, 0.7)


class TestTopRankedCut:
    """The best document dropped while a worse one was kept."""

    @pytest.mark.parametrize("kind", CUTTING)
    def test_kinds_that_cut(self, kind: str) -> None:
        """The best-scored ID was handed and dropped, while one that scored lower was kept."""
        finding = the(judge(RERANKED, stage(kind, "b c", name="n")), "top_ranked_cut")
        assert (finding.ids, finding.stage, finding.name, finding.severity) == (("a",), kind, "n", "error")

    @pytest.mark.parametrize("kind", ["fusion", "boost", "rerank", "mmr", "expansion", "rescue", "reader", "vector"])
    def test_kinds_that_may(self, kind: str) -> None:
        """Stages that rank anew may drop the best."""
        assert best(RERANKED, stage(kind, "b c")) == ""

    def test_a_custom_source_is_fed_nothing(self) -> None:
        """A custom stage that is a source was handed nothing."""
        assert best(RERANKED, stage("web", "b", source=True, given="a b")) == ""

    @pytest.mark.parametrize(
        ("packing", "expected"),
        [
            (stage("packing", "b"), "a"),
            (stage("packing", "a"), ""),
            (stage("packing", "a c"), ""),
            (stage("packing", ""), ""),
            (stage("packing", "x"), ""),
            (stage("packing", None), ""),
            (stage("packing", "b", count=2), ""),
            (stage("packing", "b", given="b c"), ""),
            (stage("packing", "b", given="a b"), "a"),
            (stage("packing", "b", given="a"), ""),
            (stage("packing", "b", given="a b", input_count=3), ""),
        ],
    )
    def test_handed_and_kept(self, packing: StageRecord, expected: str) -> None:
        """Only with a known input that holds the best and the one kept, and an uncut list."""
        assert best(RERANKED, packing) == expected

    @pytest.mark.parametrize(
        ("scores", "returned", "expected"),
        [
            ((1.0, 1.0, 1.0), "b c", ""),
            ((1.0, 1.0, 0.5), "b", ""),
            ((1.0, 1.0, 0.5), "b c", "a"),
            ((0.5, 1.0, 1.0), "c a", "b"),
            ((0.1, 0.2, 0.3), "a b", "c"),
            ((-3.0, -2.0, -9.0), "a", "b"),
            ((1.0, 0.5), "b c", ""),
            ((), "b c", ""),
            ((1.0, 0.9, 0.8, 0.7), "b c", ""),
        ],
    )
    def test_scores(self, scores: tuple[float, ...], returned: str, expected: str) -> None:
        """The first of the highest, not the first in the list; equal scores are no lower ones."""
        assert best(scored("rerank", "a b c", *scores), stage("packing", returned)) == expected

    @pytest.mark.parametrize(
        ("between", "expected"),
        [
            ((), "a"),
            ((stage("expansion", "a b c d"),), "a"),
            ((stage("reorder", "c b a"),), "a"),
            ((stage("dedupe", "a b c"),), "a"),
            ((stage("mmr", "a b c"),), ""),
            ((stage("boost", "a b c"),), ""),
            ((stage("rerank", "a b c"),), ""),
            ((stage("fusion", "a b c"),), ""),
            ((scored("mmr", "a b c", 0.5),), ""),
            ((stage("mmr", "a b c"), stage("expansion", "a b c")), ""),
            ((scored("mmr", "a b c", 0.1, 0.2, 0.3),), "c"),
            ((scored("expansion", "a b c", 0.3, 0.4, 0.2),), "b"),
            ((stage("mmr", "a b c"), scored("expansion", "b a c", 3, 2, 1)), "b"),
        ],
    )
    def test_last_scores_before_it(self, between: tuple[StageRecord, ...], expected: str) -> None:
        """The last stage with scores counts, unless a stage that ranks anew without scores came after it."""
        keep = {"a": "b c", "b": "a c", "c": "a b", "": "b c"}[expected]
        assert best(RERANKED, *between, stage("packing", keep)) == expected

    def test_before_it_means_feeding_it(self) -> None:
        """Scores of a stage that does not feed it, directly or through others, do not count."""
        other = scored("rerank", "c a", 9, 1, round=2)
        stages = (replace(RERANKED, round=1), other, stage("packing", "b c", round=1))
        assert best(*stages) == "a"
        aside = scored("rerank", "b a", 9, 1, fed_by=("nowhere",), name="aside")
        assert best(RERANKED, aside, stage("packing", "b c", fed_by=("rerank",), given="a b c")) == "a"

    def test_a_ranking_stage_aside_is_not_in_between(self) -> None:
        """A stage without scores that does not feed it is no stage in between."""
        stages = (RERANKED, stage("mmr", "b", name="aside"), stage("packing", "b c", fed_by=("rerank",)))
        assert best(*stages) == "a"

    def test_an_arm_without_scores(self) -> None:
        """Of parallel arms the last with scores counts: a source does not rank the other arm anew."""
        stages = (scored("vector", "a b", 2, 1), stage("lexical", "c"), stage("packing", "b c"))
        assert best(*stages) == "a"

    def test_ids_not_objects(self) -> None:
        """Another chunk of the best document does not stand in for it."""
        stages = (scored("rerank", "doc#0 doc#1", 2, 1), stage("packing", "doc#1"))
        assert best(*stages, selected="doc", resolver=CHUNKS) == "doc#0"

    def test_unreadable_best(self) -> None:
        """A best document without an ID is in no finding."""
        assert best(scored("rerank", "- b", 2, 1), stage("packing", "b")) == ""
        assert best(scored("rerank", "a -", 2, 1), stage("packing", "-")) == ""

    def test_a_repeated_id(self) -> None:
        """The first place with the highest score is the best, not an ID that stood earlier with a lower one."""
        repeated = scored("rerank", "a b a c", 1, 3, 3, 2)
        assert best(repeated, stage("packing", "a c")) == "b"
        assert best(repeated, stage("packing", "b c")) == ""
        assert best(scored("rerank", "a b a", 3, 2, 1), stage("packing", "b")) == "a"

    def test_not_a_number(self) -> None:
        """NaN is no score: its document is neither best nor lower."""
        nan = float("nan")
        assert best(scored("rerank", "x a b", nan, 2, 1), stage("packing", "b")) == "a"
        assert best(scored("rerank", "a x", 2, nan), stage("packing", "x")) == ""
        assert best(scored("rerank", "a b", nan, nan), stage("packing", "b")) == ""

    def test_infinities(self) -> None:
        """Infinite scores order like any others."""
        assert best(scored("rerank", "a b", 1, float("inf")), stage("packing", "a")) == "b"
        assert best(scored("rerank", "a b", 1, float("-inf")), stage("packing", "b")) == "a"


def displaced(*stages: StageRecord, **facts: Any) -> str:
    """Return the IDs of the finding ``expansion_displaced``, if any."""
    return " ".join(each for finding in found(judge(*stages, **facts), "expansion_displaced") for each in finding.ids)


class TestExpansionDisplaced:
    """Neighbours that expansion added in the place of documents that were retrieved."""

    RERANK = stage("rerank", "b a")
    EXPANSION = stage("expansion", "b a n")

    @pytest.mark.parametrize(
        ("packing", "expected"),
        [
            (stage("packing", "n"), "a b"),
            (stage("packing", "b n"), "a"),
            (stage("packing", "b a n"), ""),
            (stage("packing", "b"), ""),
            (stage("packing", ""), ""),
            (stage("packing", None), ""),
            (stage("packing", "n", count=2), ""),
            (stage("packing", "n", given="b n"), "b"),
            (stage("packing", "n", given="n"), ""),
            (stage("packing", "n", given="b n", input_count=3), ""),
            (stage("candidates", "n"), ""),
        ],
    )
    def test_handed_and_dropped(self, packing: StageRecord, expected: str) -> None:
        """Packing was handed and dropped IDs of the expansion's input while it kept an added one."""
        assert displaced(self.RERANK, self.EXPANSION, packing) == expected

    def test_severity(self) -> None:
        """It is an error at packing."""
        finding = the(judge(self.RERANK, self.EXPANSION, stage("packing", "n")), "expansion_displaced")
        assert (finding.stage, finding.severity) == ("packing", "error")

    def test_known_input_of_the_expansion(self) -> None:
        """The expansion's input is what it recorded, else what it was fed; unknown, nothing is said."""
        packing = stage("packing", "n")
        assert displaced(self.RERANK, stage("expansion", "b a n", given="b"), packing) == "b"
        assert displaced(self.RERANK, stage("expansion", "b a n", given="b", input_count=2), packing) == ""
        assert displaced(stage("rerank", "b a", count=3), self.EXPANSION, packing) == ""
        assert displaced(self.EXPANSION, packing) == ""

    def test_an_unreadable_expansion(self) -> None:
        """What an expansion added is not known where its list is unreadable."""
        assert displaced(self.RERANK, stage("expansion", None), stage("packing", "n", given="b a n")) == ""

    def test_returned_by_no_earlier_stage(self) -> None:
        """An ID that an earlier stage returned, whichever, was not added by expansion."""
        assert displaced(stage("vector", "n b a"), self.RERANK, self.EXPANSION, stage("packing", "n")) == ""
        other = stage("vector", "n", round=7)
        assert displaced(other, self.RERANK, self.EXPANSION, stage("packing", "n")) == ""
        after = stage("vector", "n", round=7)
        assert displaced(self.RERANK, self.EXPANSION, after, stage("packing", "n", fed_by=("expansion",))) == "a b"

    def test_last_expansion_before_it(self) -> None:
        """The last expansion that feeds packing counts, directly or through others."""
        again = stage("expansion", "b a n m")
        assert displaced(self.RERANK, self.EXPANSION, again, stage("packing", "m b a")) == "n"
        assert displaced(self.RERANK, self.EXPANSION, stage("mmr", "n b a"), stage("packing", "n")) == "a b"
        aside = stage("expansion", "n", round=3)
        assert displaced(self.RERANK, aside, stage("packing", "n b", fed_by=("rerank",))) == ""

    def test_unreadable_documents(self) -> None:
        """A document without an ID was neither dropped nor added."""
        assert displaced(stage("rerank", "- a"), stage("expansion", "- a n"), stage("packing", "n a")) == ""
        assert displaced(stage("rerank", "a"), stage("expansion", "a -"), stage("packing", "-")) == ""


def below(cutoff: int | None, vector: StageRecord, lexical: StageRecord, fusion: StageRecord, **facts: Any) -> bool:
    """Return whether the fusion is found to be below its best arm."""
    return bool(found(judge(vector, lexical, fusion, cutoff=cutoff, **facts), "fusion_below_arm"))


class TestFusionBelowArm:
    """A fusion that recalls less than one of its arms."""

    TEN = "1 2 3 4 5 6 7 8 9"

    @pytest.mark.parametrize(
        ("cutoff", "fusion", "expected"),
        [
            (1, "x j y z w", True),
            (1, "j x", False),
            (2, "x y j", False),
            (2, "x y z j", True),
            (3, "x y j", False),
            (3, "x y z j", True),
            (4, "x y z w j", False),
            (4, "x y z w v j", True),
            (5, "x y z w j", False),
            (6, f"{TEN} j", False),
            (None, f"{TEN} j", False),
            (None, f"{TEN} 10 j", True),
            (10, f"{TEN} 10 j", True),
            (11, f"{TEN} 10 j", False),
            (10**20, "x", False),
        ],
    )
    def test_at_the_scored_k(self, cutoff: int | None, fusion: str, expected: bool) -> None:
        """Recall is compared at the smallest scored k that is at least the cutoff, 10 without one, never past 10."""
        facts = {"judged": "j", "selected": None}
        assert below(cutoff, stage("vector", "j"), stage("lexical", "q"), stage("fusion", fusion), **facts) is expected

    def test_best_arm(self) -> None:
        """The best of the sources counts, and equal to it is not below."""
        arms = (stage("vector", "x y"), stage("lexical", "j1 j2"))
        assert below(3, *arms, stage("fusion", "j1 x"), judged="j1 j2")
        assert not below(3, *arms, stage("fusion", "j1 x j2"), judged="j1 j2")
        assert not below(3, stage("vector", "x"), stage("lexical", "y"), stage("fusion", "x"), judged="j")

    def test_only_sources_that_feed_it(self) -> None:
        """An arm that ends in a rerank is no source; a source that does not feed the fusion is none of its arms."""
        vector, rerank = stage("vector", "j"), stage("rerank", "j")
        assert not found(judge(vector, rerank, stage("fusion", "x"), judged="j"), "fusion_below_arm")
        web = stage("web", "j", source=True)
        assert the(judge(web, stage("fusion", "x"), judged="j"), "fusion_below_arm").severity == "info"

    def test_judgments_are_needed(self) -> None:
        """Without judgments of a positive grade there is no recall."""
        arms = (stage("vector", "j"), stage("lexical", "q"), stage("fusion", "x"))
        assert not below(1, *arms)
        assert not below(1, *arms, judged="j", grades=(0,))

    @pytest.mark.parametrize(
        ("vector", "fusion", "expected"),
        [
            (stage("vector", "j", count=9), stage("fusion", "x y z"), True),
            (stage("vector", "y", count=9), stage("fusion", "x y z"), False),
            (stage("vector", "j"), stage("fusion", "x", count=9), False),
            (stage("vector", "j"), stage("fusion", "x y z", count=9), True),
            (stage("vector", None), stage("fusion", "x y z"), False),
            (stage("vector", "j"), stage("fusion", None), False),
        ],
    )
    def test_undecided(self, vector: StageRecord, fusion: StageRecord, expected: bool) -> None:
        """Where the recall of the fusion or of an arm is not decided, nothing is said."""
        lexical = stage("lexical", "j x")
        assert below(3, vector, lexical, fusion, judged="j") is expected

    def test_an_invalid_cutoff(self) -> None:
        """A cutoff that is invalid does not make a finding fail."""
        assert judge(stage("vector", "j"), stage("fusion", "x"), cutoff=0, judged="j").verdict == "DECLARATION_INVALID"
