"""The seven verdicts, first match wins."""

from __future__ import annotations

from typing import Any

import pytest

from rop_otel.core.profile import Resolver
from tests.core.build import CHUNKS, codes, judge, stage

SEEN = stage("packing", "b a c")


@pytest.mark.parametrize("facts", [{"mode": "strict"}, {"mode": ""}, {"rule": "most"}, {"cutoff": 0}, {"cutoff": -3}])
@pytest.mark.parametrize("mode", [None, "soft"])
def test_declaration_invalid(facts: dict[str, Any], mode: str | None) -> None:
    """A mode, rule or cutoff that is none of the contract's comes first: no rank, no selected scores, but findings."""
    result = judge(stage("packing", "b a b"), judged="a", **{"mode": mode, **facts})
    assert (result.verdict, result.selected_rank, result.drop) == ("DECLARATION_INVALID", None, None)
    assert (result.stages[0].selected, result.shown.selected) == ({}, {})
    assert result.stages[0].judged["rr"] == result.shown.judged["rr"] == 0.5
    assert codes(result) == [("duplicate_ids", "packing")]


@pytest.mark.parametrize(
    ("mode", "selected", "verdict"),
    [
        ("soft", "a", "NOT_APPLICABLE"),
        ("open", "a", "NOT_APPLICABLE"),
        ("soft", "", "NOT_APPLICABLE"),
        (None, None, "NOT_APPLICABLE"),
        (None, "", "SELECTOR_ERROR"),
        (None, "a", "PASS"),
        ("hard", "a", "PASS"),
        ("hard", None, "SELECTOR_ERROR"),
        ("hard", "-", "SELECTOR_ERROR"),
        ("hard", "a -", "SELECTOR_ERROR"),
    ],
)
def test_modes_and_selections(mode: str | None, selected: str | None, verdict: str) -> None:
    """Only hard mode is judged, the default where a selection is recorded, and it needs non-empty strings."""
    assert judge(SEEN, mode=mode, selected=selected).verdict == verdict


def test_mode_is_reported() -> None:
    """The mode in force is reported, and one that is invalid as it was recorded."""
    assert [judge(SEEN, **facts).mode for facts in ({}, {"selected": None}, {"mode": "x"})] == ["hard", "open", "x"]


def test_rank_in_any_mode() -> None:
    """The selected object's rank is given in any mode with a usable selection."""
    assert judge(SEEN, mode="soft").selected_rank == 2
    assert judge(SEEN, mode="soft").shown.selected["rr"] == 0.5
    assert judge(SEEN, selected=None).selected_rank is None
    assert judge(SEEN, selected="-").selected_rank is None
    assert judge(SEEN, selected="a -").selected_rank is None


class TestResolver:
    """The resolver in force."""

    @pytest.mark.parametrize("selected", ["unknown", "doc unknown"])
    def test_resolution_error(self, selected: str) -> None:
        """A selected ID that the resolver does not know is an error, also among known ones: no rank, no scores."""
        result = judge(stage("packing", "unknown doc#0"), selected=selected, resolver=CHUNKS)
        assert (result.verdict, result.selected_rank, result.shown.selected) == ("RESOLUTION_ERROR", None, {})

    def test_resolution_error_comes_before_what_is_shown(self) -> None:
        """An unknown selection is said to be one also where there is no usable shown list."""
        for stages in ((), (stage("packing", None),)):
            assert judge(*stages, selected="unknown", resolver=CHUNKS).verdict == "RESOLUTION_ERROR"

    @pytest.mark.parametrize("selected", ["doc", "Doc", "doc#1"])
    @pytest.mark.parametrize("shown", ["x doc#0", "x doc", "x Doc"])
    def test_any_string_of_the_object(self, selected: str, shown: str) -> None:
        """Under ``any`` every string of the selected object stands for it."""
        result = judge(stage("packing", shown), selected=selected, resolver=CHUNKS)
        assert (result.verdict, result.selected_rank) == ("PASS", 2)

    @pytest.mark.parametrize(
        ("shown", "verdict", "rank"),
        [("doc#1 x doc#0", "PASS", 3), ("doc#0 doc", "FAIL", None), ("other#0", "PASS", 1)],
    )
    def test_all_members(self, shown: str, verdict: str, rank: int | None) -> None:
        """Under ``all`` every member of one acceptable object is needed; other strings do not stand in for them."""
        result = judge(stage("packing", shown), selected="doc other", rule="all", resolver=CHUNKS)
        assert (result.verdict, result.selected_rank) == (verdict, rank)

    def test_named_and_at_hand(self) -> None:
        """The handoff may name the hash of the resolver that is given."""
        result = judge(stage("packing", "doc#0"), selected="doc", resolver=CHUNKS, resolver_sha256=CHUNKS.sha256)
        assert result.verdict == "PASS"

    def test_not_named(self) -> None:
        """A resolver that is given is in force, though the handoff names none."""
        assert judge(stage("packing", "doc#0"), selected="doc", resolver=CHUNKS).verdict == "PASS"

    @pytest.mark.parametrize("resolver", [None, CHUNKS])
    def test_named_but_not_at_hand(self, resolver: Resolver | None) -> None:
        """Where the named resolver is not here nothing is scored, there is no rank, and findings compare IDs as is."""
        stages = (stage("vector", "doc#0"), stage("packing", "doc doc", given="doc"))
        result = judge(*stages, selected="doc", judged="doc", resolver=resolver, resolver_sha256="0" * 64)
        assert (result.verdict, result.selected_rank) == ("UNVERIFIABLE", None)
        assert [(each.selected, each.judged, each.present) for each in result.stages] == [({}, {}, None)] * 2
        assert (result.shown.selected, result.shown.judged) == ({}, {})
        assert codes(result) == [("duplicate_ids", "packing"), ("silent_cut", "packing")]

    def test_not_at_hand_comes_after_mode_and_selection(self) -> None:
        """The verdicts before it still win."""
        assert judge(SEEN, mode="soft", resolver_sha256="0").verdict == "NOT_APPLICABLE"
        assert judge(SEEN, selected="", resolver_sha256="0").verdict == "SELECTOR_ERROR"


class TestShownList:
    """What the reader is shown."""

    @pytest.mark.parametrize(
        ("stages", "shown"),
        [
            ((stage("vector", "a b"), stage("rerank", "b")), "b"),
            ((stage("vector", "a b"), stage("packing", "b"), stage("rescue", "c"), stage("mmr", "d")), "b c"),
            ((stage("packing", "a"), stage("packing", "b"), stage("reader", "c")), "a b"),
            ((stage("packing", "a", round=1), stage("packing", "b", round=2)), "a b"),
            ((stage("packing", "a", round=1), stage("packing", "b"), stage("rescue", "c", round=2)), "a b c"),
            ((stage("packing", "a", round=1), stage("packing", "b"), stage("rescue", "c")), "b c"),
            ((stage("packing", "a", round=1), stage("packing", "b", round=2), stage("rescue", "c")), "a b c"),
            ((stage("vector", "a"), stage("reader", "b")), "a"),
            ((stage("vector", "a", round=1), stage("vector", "b", round=2)), "a b"),
            ((stage("rerank", "a"), stage("vector", "b"), stage("lexical", "c")), "b c"),
            ((stage("packing", "a b c", shares=(0.4, 0.0, 1.0)),), "a c"),
            ((stage("packing", "a b c", id_tokens=(3, 0, 1)),), "a c"),
            ((stage("packing", "a b c", id_tokens=(0, 0)),), "a b c"),
            ((stage("packing", "a b a", id_tokens=(0, 2, 2)),), "b a"),
            ((stage("mmr", "a b", id_tokens=(0, 2)),), "a b"),
            ((stage("packing", "a a -"),), "a a -"),
            ((stage("packing", "a", count=2), stage("rescue", "b")), "a"),
            ((stage("packing", "a", count=2), stage("rescue", "b", count=2), stage("rescue", "c")), "a"),
            ((stage("packing", "a", count=1), stage("rescue", "b", count=2), stage("rescue", "c")), "a b"),
            ((), ""),
        ],
    )
    def test_what_is_known_of_it(self, stages: tuple[Any, ...], shown: str) -> None:
        """Packing and rescue in order, else what is handed on; texts of no tokens are not shown; known up to a cut."""
        assert judge(*stages).shown.ids == tuple("" if each == "-" else each for each in shown.split())

    @pytest.mark.parametrize(
        "stages",
        [
            (),
            (stage("reader", "a"),),
            (stage("packing", None),),
            (stage("packing", "a"), stage("rescue", None)),
            (stage("vector", "a"), stage("rerank", None)),
            (stage("packing", "a", round=1), stage("packing", None, round=2)),
        ],
    )
    def test_unusable(self, stages: tuple[Any, ...]) -> None:
        """No stage, or IDs of a shown stage unreadable: UNVERIFIABLE, without a rank and scores."""
        result = judge(*stages, judged="a")
        assert (result.verdict, result.selected_rank, result.drop) == ("UNVERIFIABLE", None, None)
        assert (result.shown.selected, result.shown.judged) == ({}, {})

    def test_unreadable_elsewhere_is_usable(self) -> None:
        """An unreadable stage that is not shown takes nothing from the verdict."""
        assert judge(stage("vector", None), stage("packing", "a")).verdict == "PASS"
        assert judge(stage("packing", None, round=1), stage("packing", "a")).verdict == "PASS"
        assert judge(stage("packing", ""), stage("rerank", None)).verdict == "FAIL"


@pytest.mark.parametrize(
    ("stages", "cutoff", "verdict", "rank"),
    [
        ((stage("packing", "b a"),), None, "PASS", 2),
        ((stage("packing", "b a"),), 2, "PASS", 2),
        ((stage("packing", "b a"),), 1, "FAIL", 2),
        ((stage("packing", "b a"),), 10**30, "PASS", 2),
        ((stage("packing", "b c"),), 10**30, "FAIL", None),
        ((stage("packing", ""),), None, "FAIL", None),
        ((stage("packing", ""),), 3, "FAIL", None),
        # cut lists
        ((stage("packing", "b a", count=9),), None, "PASS", 2),
        ((stage("packing", "b c", count=9),), None, "UNVERIFIABLE", None),
        ((stage("packing", "b c", count=9),), 2, "FAIL", None),
        ((stage("packing", "b c", count=9),), 3, "UNVERIFIABLE", None),
        ((stage("packing", "b c", count=2),), 3, "FAIL", None),
        ((stage("packing", "", count=1),), 1, "UNVERIFIABLE", None),
        # behind the first cut list nothing has a known rank, but without a cutoff every recorded ID counts
        ((stage("packing", "b", count=9), stage("rescue", "a")), None, "PASS", None),
        ((stage("packing", "b", count=9), stage("rescue", "a")), 1, "FAIL", None),
        ((stage("packing", "b", count=9), stage("rescue", "a")), 2, "UNVERIFIABLE", None),
        ((stage("packing", "b", count=9), stage("rescue", "c")), None, "UNVERIFIABLE", None),
        ((stage("packing", "b"), stage("rescue", "a", count=9)), 2, "PASS", 2),
        # texts of no tokens are not shown, so they use up no rank
        ((stage("packing", "b a", id_tokens=(0, 5)),), 1, "PASS", 1),
        ((stage("packing", "a b", id_tokens=(0, 5)),), None, "FAIL", None),
        ((stage("packing", "b c d", id_tokens=(0, 0, 5), count=9),), 2, "UNVERIFIABLE", None),
        # repeated and unreadable IDs keep their slots
        ((stage("packing", "b b a"),), 2, "FAIL", 3),
        ((stage("packing", "- a"),), 1, "FAIL", 2),
    ],
)
def test_pass_fail_and_neither(stages: tuple[Any, ...], cutoff: int | None, verdict: str, rank: int | None) -> None:
    """PASS where the rule holds on what is known within the cutoff, FAIL only where that is certain."""
    result = judge(*stages, cutoff=cutoff)
    assert (result.verdict, result.selected_rank) == (verdict, rank)


def test_alternatives() -> None:
    """Any one of the declared alternatives will do, under either rule."""
    for rule in (None, "any", "all"):
        assert judge(stage("packing", "x b"), selected="a b", rule=rule).selected_rank == 2


def test_an_empty_selected_id_matches_no_empty_slot() -> None:
    """An unreadable document is never the selected one."""
    result = judge(stage("packing", "-"), selected="-", mode="hard")
    assert (result.verdict, result.selected_rank, result.shown.selected) == ("SELECTOR_ERROR", None, {})


class TestNeed:
    """One of the selected keys, or every one."""

    @pytest.mark.parametrize(
        ("need", "shown", "verdict", "rank"),
        [
            (None, "b x a", "PASS", 1),
            ("one", "b x a", "PASS", 1),
            ("every", "b x a", "PASS", 3),
            ("every", "b x", "FAIL", None),
            ("both", "a b", "DECLARATION_INVALID", None),
            ("", "a b", "DECLARATION_INVALID", None),
        ],
    )
    def test_each_need(self, need: str | None, shown: str, verdict: str, rank: int | None) -> None:
        """Any key suffices unless every one is needed; another word is invalid."""
        result = judge(stage("packing", shown), selected="a b", need=need)
        assert (result.verdict, result.selected_rank) == (verdict, rank)

    def test_the_first_key_that_was_lost(self) -> None:
        """The loss is that of the first key, as given, that does not arrive up to the cutoff."""
        stages = (stage("vector", "c b a"), stage("mmr", "c a"), stage("packing", "c a"))
        result = judge(*stages, selected="a b", need="every")
        assert (result.dropped_at, result.drop_cause) == ("mmr", "diversified_away")
        result = judge(*stages, selected="a b", need="every", cutoff=1)
        assert (result.dropped_at, result.drop_cause) == ("vector", "below_cutoff")

    def test_all_members_of_each(self) -> None:
        """Under ``all`` every member of every object is needed."""
        facts: dict[str, Any] = {"selected": "doc other", "need": "every", "rule": "all", "resolver": CHUNKS}
        assert judge(stage("packing", "doc#1 other#0 doc#0"), **facts).selected_rank == 3
        assert judge(stage("packing", "doc#1 other#0"), **facts).verdict == "FAIL"
