"""Where the selected object was lost, and why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.build import CHUNKS, judge, lost, stage

Stages = tuple[Any, ...]


@pytest.mark.parametrize(
    ("stages", "facts"),
    [
        ((stage("packing", "a"),), {}),
        ((stage("packing", "b", count=2),), {}),
        ((stage("packing", "b"),), {"mode": "soft"}),
        ((stage("packing", "b"),), {"selected": "-"}),
        ((stage("packing", "b"),), {"cutoff": 0}),
    ],
)
def test_only_a_fail_is_lost(stages: Stages, facts: dict[str, Any]) -> None:
    """Any other verdict says nothing about a loss."""
    assert judge(*stages, **facts).drop is None


class TestNoText:
    """Rule 0: shown without a word of text."""

    def test_last_such_stage(self) -> None:
        """Returned by packing or rescue with no tokens, and not shown by another: the last such stage."""
        stages = (stage("vector", "a b"), stage("packing", "b a", id_tokens=(5, 0)))
        assert lost(*stages) == ("packing", "no_text")
        assert lost(*stages, stage("rescue", "a", id_tokens=(0,))) == ("rescue", "no_text")
        assert lost(*stages, stage("rescue", "c", id_tokens=(0,))) == ("packing", "no_text")

    def test_shown_elsewhere(self) -> None:
        """Where another stage shows it, below the cutoff, it was not lost for want of text."""
        stages = (stage("packing", "a b", id_tokens=(0, 5)), stage("rescue", "a"))
        assert lost(*stages, cutoff=1) == ("packing", "below_cutoff")

    def test_only_stages_of_the_shown_list(self) -> None:
        """A packing whose list is not what is shown does not count."""
        inner = stage("packing", "a", round=1, id_tokens=(0,))
        assert lost(inner, stage("packing", "b")) == ("packing", "over_budget")

    def test_under_all(self) -> None:
        """All members in one packing, one of them without text."""
        packing = stage("packing", "doc#0 doc#1", id_tokens=(1, 0))
        assert lost(packing, selected="doc", rule="all", resolver=CHUNKS) == ("packing", "no_text")


class TestBelowCutoff:
    """Rule 1: shown, but too far down."""

    @pytest.mark.parametrize(
        ("stages", "cutoff", "dropped_at"),
        [
            # the stage that moved it down
            ((stage("vector", "a b c"), stage("rerank", "b c a"), stage("packing", "b c a")), 2, "rerank"),
            ((stage("vector", "b a"), stage("mmr", "a b"), stage("packing", "b a")), 1, "packing"),
            (
                (stage("vector", "a b"), stage("rerank", "b a"), stage("mmr", "a b"), stage("packing", "b a")),
                1,
                "packing",
            ),
            # parallel arms: one of them had it high enough
            ((stage("vector", "a b"), stage("lexical", "b a"), stage("fusion", "b a")), 1, "fusion"),
            # never high enough: the first that holds it
            ((stage("vector", "c b a"), stage("packing", "b c a")), 1, "vector"),
            ((stage("vector", "b"), stage("lexical", "b a"), stage("fusion", "b a")), 1, "lexical"),
            # the last stage with it high enough feeds nothing
            ((stage("packing", "b a"), stage("rerank", "a b")), 1, None),
            # shown stages count by their place in the shown list
            ((stage("vector", "b c a"), stage("packing", "b c"), stage("rescue", "a")), 2, "vector"),
            ((stage("packing", "b c"), stage("rescue", "a")), 2, "rescue"),
            ((stage("vector", "a b"), stage("packing", "b a", id_tokens=(5, 5))), 1, "packing"),
            # a round's packing that is not shown counts by its own list
            ((stage("packing", "a", round=1), stage("packing", "b a")), 1, "packing"),
            # readers feed nothing and are fed nothing here
            ((stage("rerank", "b a"), stage("reader", "a")), 1, "rerank"),
            # recorded behind a cut list
            ((stage("vector", "a"), stage("packing", "b", count=5), stage("rescue", "a")), 1, "packing"),
        ],
    )
    def test_dropped_at(self, stages: Stages, cutoff: int, dropped_at: str | None) -> None:
        """The first stage fed by the last that had it within the cutoff; never within: the first that holds it."""
        assert lost(*stages, cutoff=cutoff) == (dropped_at, "below_cutoff")

    def test_first_stage_fed(self) -> None:
        """Of two stages that it fed, the first in order."""
        stages = (
            stage("vector", "a b"),
            stage("rerank", "b a", name="one", fed_by=("vector",)),
            stage("rerank", "b a", name="two", fed_by=("vector",)),
        )
        assert judge(*stages, cutoff=1).drop.name == "one"  # type: ignore[union-attr]

    def test_spread_over_the_shown_stages(self) -> None:
        """Under ``all`` the shown list may hold what no stage of it holds alone: no stage is named."""
        stages = (stage("packing", "x doc#0"), stage("rescue", "doc#1"))
        assert lost(*stages, selected="doc", rule="all", cutoff=2, resolver=CHUNKS) == (None, "below_cutoff")

    def test_a_rounds_packing_that_is_not_shown(self) -> None:
        """A packing that is not part of the shown list counts by its own list."""
        drop = judge(stage("packing", "a", round=1), stage("packing", "b a"), cutoff=1).drop
        assert drop is not None
        assert (drop.stage, drop.round) == ("packing", None)

    def test_name_and_round(self) -> None:
        """The stage is named with its name and round."""
        stages = (stage("vector", "a b", round=2), stage("rerank", "b a", round=2, name="ce"))
        drop = judge(*stages, cutoff=1).drop
        assert drop is not None
        assert (drop.stage, drop.name, drop.round) == ("rerank", "ce", 2)


class TestNeverHeld:
    """Rule 2: no stage holds it."""

    @pytest.mark.parametrize(
        ("stages", "facts", "expected"),
        [
            ((stage("vector", "b"), stage("packing", "b")), {}, (None, "never_retrieved")),
            ((stage("packing", "b"),), {}, (None, "never_retrieved")),
            # unreadable comes first
            (
                (stage("vector", None), stage("lexical", None), stage("packing", "b")),
                {},
                ("vector", "unobserved_stage"),
            ),
            (
                (stage("vector", "b", count=9), stage("rerank", None), stage("packing", "b")),
                {"expected": ("mmr",)},
                ("rerank", "unobserved_stage"),
            ),
            # then expected stages, sources too, readers not
            (
                (stage("vector", "b", count=9), stage("packing", "b")),
                {"expected": ("reader", "vector", "lexical", "mmr")},
                ("lexical", "unobserved_stage"),
            ),
            ((stage("packing", "b"),), {"expected": ("packing", "reader")}, (None, "never_retrieved")),
            # then cut lists, inputs included
            ((stage("vector", "b", count=9), stage("packing", "b")), {}, (None, "beyond_recorded_depth")),
            (
                (stage("vector", "b"), stage("rerank", "b", given="b", input_count=9)),
                {},
                (None, "beyond_recorded_depth"),
            ),
            (
                (stage("vector", "b", count=1), stage("rerank", "b", given="b", input_count=1)),
                {},
                (None, "never_retrieved"),
            ),
            # readers are left out
            ((stage("packing", "b"), stage("reader", None)), {}, (None, "never_retrieved")),
            ((stage("packing", "b"), stage("reader", "b", count=9)), {}, (None, "never_retrieved")),
            ((stage("packing", "b"), stage("reader", "a")), {}, (None, "never_retrieved")),
            # a span that was left out was observed
            (
                (stage("vector", "b"), stage("rescue", None, failed=True)),
                {"expected": ("rescue",)},
                (None, "never_retrieved"),
            ),
        ],
    )
    def test_cause(self, stages: Stages, facts: dict[str, Any], expected: tuple[str | None, str]) -> None:
        """An unreadable stage, else an expected one that is missing, else a cut list, else never retrieved."""
        assert lost(*stages, **facts) == expected

    def test_cut_shown_list(self) -> None:
        """The shown list's own cut counts too, where the cutoff made the FAIL certain."""
        assert lost(stage("packing", "b", count=9), cutoff=1) == (None, "beyond_recorded_depth")


class TestLostOnTheWay:
    """Rule 3: held by a stage, then lost."""

    @pytest.mark.parametrize(
        ("kind", "cause"),
        [
            ("fusion", "fused_out"),
            ("boost", "truncated"),
            ("candidates", "truncated"),
            ("rerank", "reranked_away"),
            ("mmr", "diversified_away"),
            ("expansion", "displaced"),
            ("reorder", "reordered_away"),
            ("sentence_selection", "no_sentence_kept"),
            ("packing", "over_budget"),
            ("rescue", "dropped"),
            ("dedupe", "dropped"),
        ],
    )
    def test_cause_by_kind(self, kind: str, cause: str) -> None:
        """The cause is that of the kind of the first stage fed by the last that holds it."""
        assert lost(stage("vector", "a b"), stage(kind, "b", name="n", round=None)) == (kind, cause)
        assert lost(stage("vector", "a b"), stage(kind, "b", given="a b"), stage("packing", "b"))[0] == kind

    def test_the_last_that_holds_it(self) -> None:
        """A stage that finds it again moves the loss to where it was lost last."""
        stages = (stage("vector", "a"), stage("fusion", "b"), stage("expansion", "b a"), stage("packing", "b"))
        assert lost(*stages) == ("packing", "over_budget")

    def test_not_at_a_reader(self) -> None:
        """A reader that is fed first is not where it was lost."""
        assert lost(stage("vector", "a b"), stage("reader", "b"), stage("packing", "b")) == ("packing", "over_budget")

    def test_unused(self) -> None:
        """Held last by a stage that feeds nothing."""
        assert lost(stage("packing", "b"), stage("lexical", "a")) == (None, "unused")
        assert lost(stage("vector", "a"), stage("mmr", "b", fed_by=("none",))) == (None, "unused")
        assert lost(stage("vector", "a", round=1), stage("packing", "b", round=2), cutoff=9) == (None, "unused")

    def test_an_arm_that_feeds_nothing(self) -> None:
        """An arm with a stage of its own feeds fusion only where fusion says so."""
        arm = (stage("vector", "a"), stage("rerank", "a"), stage("lexical", "b"))
        assert lost(*arm, stage("fusion", "b")) == (None, "unused")
        assert lost(*arm, stage("fusion", "b", fed_by=("rerank", "lexical"))) == ("fusion", "fused_out")

    @pytest.mark.parametrize(
        ("expected", "outcome"),
        [
            (("vector", "rerank", "packing"), ("rerank", "unobserved_stage")),
            (("vector", "rerank", "mmr", "packing"), ("rerank", "unobserved_stage")),
            (("vector", "lexical", "packing"), ("packing", "over_budget")),
            (("vector", "reader", "packing"), ("packing", "over_budget")),
            (("vector", "packing", "rerank"), ("packing", "over_budget")),
            (("rerank", "vector", "packing"), ("packing", "over_budget")),
            (("rerank", "packing"), ("packing", "over_budget")),
            (("vector", "rerank"), ("packing", "over_budget")),
        ],
    )
    def test_expected_in_between(self, expected: tuple[str, ...], outcome: tuple[str, str]) -> None:
        """A declared stage between the two that no span shows is where it was lost; a source is not."""
        assert lost(stage("vector", "a b"), stage("packing", "b"), expected=expected) == outcome

    def test_expected_places_go_by_name(self) -> None:
        """Stages stand in the declared order under their names, else their kinds; the missing one as declared."""
        stages = (stage("vector", "a b", name="dense"), stage("packing", "b", given="b", name="final"))
        assert lost(*stages, expected=("dense", "cross-encoder", "final")) == ("cross-encoder", "unobserved_stage")
        assert lost(*stages, expected=("vector", "cross-encoder", "packing")) == ("cross-encoder", "unobserved_stage")
        assert lost(*stages, expected=("sparse", "cross-encoder", "packing")) == ("packing", "silent_cut")

    @pytest.mark.parametrize(
        ("packing", "outcome"),
        [
            (stage("rerank", None, given="b"), "unobserved_stage"),
            (stage("rerank", "b", count=9, given="b"), "silent_cut"),
            (stage("rerank", "b", count=9, given="b", input_count=2), "beyond_recorded_depth"),
            (stage("rerank", "b", count=9), "beyond_recorded_depth"),
            (stage("rerank", "b", count=9, given="a b"), "beyond_recorded_depth"),
            (stage("rerank", "b", given="b"), "silent_cut"),
            (stage("rerank", "b", given=""), "silent_cut"),
            (stage("rerank", "b", given="b", input_count=2), "reranked_away"),
            (stage("rerank", "b", given="b", input_count=1), "silent_cut"),
            (stage("rerank", "b", count=1), "reranked_away"),
        ],
    )
    def test_first_cause_that_applies(self, packing: Any, outcome: str) -> None:
        """Unreadable, then a recorded input without it, then a cut list, then the kind."""
        assert lost(stage("vector", "a b"), packing, stage("packing", "b")) == ("rerank", outcome)

    def test_objects_not_ids(self) -> None:
        """The recorded input holds it as any of its strings."""
        stages = (stage("vector", "doc#0 x"), stage("rerank", "x", given="doc#1 x"))
        assert lost(*stages, selected="doc", resolver=CHUNKS) == ("rerank", "reranked_away")


class TestAll:
    """The rule ``all``: every member of one acceptable object."""

    def test_parallel_sources_hold_jointly(self) -> None:
        """Members found by several sources that feed one stage are held by them together."""
        arms = (stage("vector", "doc#0"), stage("lexical", "doc#1"))
        facts: dict[str, Any] = {"selected": "doc", "rule": "all", "resolver": CHUNKS}
        assert lost(*arms, stage("fusion", "doc#0"), **facts) == ("fusion", "fused_out")
        assert lost(*arms, stage("fusion", "doc#0", given="doc#1"), **facts) == ("fusion", "silent_cut")

    def test_lost_at_the_first_stage_that_the_last_of_them_feeds(self) -> None:
        """Sources that feed one stage hold at the last of them, and lose at the first stage that this one feeds."""
        arms = (stage("vector", "doc#0"), stage("lexical", "doc#1"), stage("mmr", "doc#1", fed_by=("lexical",)))
        fusion = stage("fusion", "doc#0", fed_by=("vector", "lexical"))
        assert lost(*arms, fusion, selected="doc", rule="all", resolver=CHUNKS) == ("mmr", "diversified_away")
        assert lost(*arms[:2], fusion, selected="doc", rule="all", resolver=CHUNKS) == ("fusion", "fused_out")

    def test_not_where_they_feed_different_stages(self) -> None:
        """Sources that feed no stage together hold nothing together."""
        arms = (stage("vector", "doc#0"), stage("rerank", "doc#0"), stage("lexical", "doc#1"), stage("fusion", "doc#1"))
        assert lost(*arms, selected="doc", rule="all", resolver=CHUNKS) == (None, "never_retrieved")

    def test_not_by_a_reader(self) -> None:
        """What comes together only at a reader was held by no stage."""
        arms = (stage("vector", "doc#0"), stage("lexical", "doc#1"), stage("packing", "x", fed_by=("no one",)))
        reader = stage("reader", "doc#0 doc#1", fed_by=("vector", "lexical"))
        assert lost(*arms, reader, selected="doc", rule="all", resolver=CHUNKS) == (None, "never_retrieved")

    def test_not_under_any(self) -> None:
        """Under ``any`` one arm that holds it is enough."""
        arms = (stage("vector", "doc#0"), stage("lexical", "x"), stage("fusion", "x"))
        assert lost(*arms, selected="doc", resolver=CHUNKS) == ("fusion", "fused_out")

    def test_one_arm_alone_holds_it(self) -> None:
        """An arm that has every member holds them by itself, so what takes the arms together is not asked."""
        arms = (stage("vector", "doc#0"), stage("lexical", "doc#0 doc#1"))
        stages = (*arms, stage("rewrite", "x", fed_by=("vector",)), stage("filter", "x", fed_by=("lexical",)))
        fusion = stage("fusion", "x", fed_by=("vector", "lexical"))
        assert lost(*stages, fusion, selected="doc", rule="all", resolver=CHUNKS) == ("filter", "dropped")

    def test_held_in_part_is_not_held(self) -> None:
        """The loss is at the stage that lost the first member, not the last."""
        stages = (stage("vector", "doc#0 doc#1"), stage("rerank", "doc#1"), stage("packing", ""))
        assert lost(*stages, selected="doc", rule="all", resolver=CHUNKS) == ("rerank", "reranked_away")


def test_rounds_are_named() -> None:
    """The loss is at a stage of its round."""
    stages = (
        stage("vector", "a b", round=1),
        stage("mmr", "b", round=1),
        stage("vector", "c", round=2),
        stage("mmr", "c", round=2),
        stage("packing", "b c"),
    )
    drop = judge(*stages).drop
    assert drop is not None
    assert (drop.stage, drop.round, drop.cause) == ("mmr", 1, "diversified_away")


def test_a_reader_between_rounds_holds_nothing() -> None:
    """A search after a first answer is looked at as any other; the reader's sources are none of its stages."""
    stages = (stage("vector", "b", round=1), stage("reader", "b", round=1), stage("vector", "a", round=2))
    assert lost(*stages, stage("packing", "b", round=2)) == ("packing", "over_budget")


def test_from_an_unrounded_search_into_no_round() -> None:
    """An unrounded stage does not feed a round, so the next unrounded one lost it."""
    stages = (stage("vector", "a"), stage("vector", "b", round=1), stage("packing", "b"))
    assert lost(*stages) == ("packing", "over_budget")
