"""The order of stages, and which spans are left out of it."""

from __future__ import annotations

import itertools

import pytest

from rop_otel.core.handoff import StageRecord
from tests.core.build import END, codes, judge, kept, stage, the


def test_order_is_end_then_start_then_span_id() -> None:
    """Stages are ordered by end time, equal ones by start time, and equal ones of those by span ID."""
    late_start = stage("rerank", "a", end_ns=20, start_ns=15, span_id="1")
    early_start = stage("mmr", "a", end_ns=20, start_ns=10, span_id="3")
    same_start = stage("reorder", "a", end_ns=20, start_ns=10, span_id="4")
    first = stage("vector", "a", end_ns=10, start_ns=9, span_id="9")
    for order in itertools.permutations((late_start, early_start, same_start, first)):
        assert kept(judge(*order)) == ["vector", "mmr", "reorder", "rerank"]


def test_what_ends_with_the_stage_around_it_comes_before() -> None:
    """Of stages that end together the one that is enclosed comes first, whenever they started."""
    outer = stage("rerank", "a b", end_ns=20, start_ns=1, span_id="1")
    inner = stage("vector", "b a", end_ns=20, start_ns=2, span_id="2", parent_id="1")
    assert kept(judge(outer, inner)) == kept(judge(inner, outer)) == ["vector", "rerank"]


def test_a_parent_that_ends_first_comes_first() -> None:
    """A stage that outlives the one around it comes after that one."""
    outer = stage("rerank", "a b", at=10, span_id="1")
    inner = stage("vector", "b a", at=20, span_id="2", parent_id="1")
    assert kept(judge(inner, outer)) == ["rerank", "vector"]


def test_one_span_counts_once() -> None:
    """Two records with one trace and span ID are one stage; the same span ID in another trace is another stage."""
    once = stage("vector", "a", at=10, span_id="1", trace_id="t")
    assert kept(judge(once, once)) == ["vector"]
    other = stage("lexical", "a", at=10, span_id="1", trace_id="u")
    assert kept(judge(once, other, once)) == ["vector", "lexical"]


class TestWrappers:
    """A stage around others that returns what the last of them returned is not a stage of its own."""

    def test_wrapper_is_left_out(self) -> None:
        """A stage with stages below it that returns the list of the last of those is left out."""
        outer = stage("search", "b a", at=30, span_id="1")
        vector = stage("vector", "a b", at=10, span_id="2", parent_id="1")
        rerank = stage("rerank", "b a", at=20, span_id="3", parent_id="1")
        assert kept(judge(outer, vector, rerank)) == ["vector", "rerank"]

    @pytest.mark.parametrize(
        ("list_of_outer", "count"),
        [("a b", None), ("b a -", None), ("b", None), ("", None), (None, None), ("b a", 9)],
    )
    def test_another_list_is_a_stage(self, list_of_outer: str | None, count: int | None) -> None:
        """Around others, but with another list than the last of them, or a longer one that was cut: kept."""
        outer = stage("search", list_of_outer, at=30, span_id="1", count=count)
        inner = stage("vector", "b a", at=10, span_id="2", parent_id="1")
        assert kept(judge(outer, inner)) == ["vector", "search"]

    def test_same_list_of_an_earlier_one_is_no_wrapper(self) -> None:
        """Only the last of the stages below counts."""
        outer = stage("search", "a b", at=30, span_id="1")
        vector = stage("vector", "a b", at=10, span_id="2", parent_id="1")
        rerank = stage("rerank", "b a", at=20, span_id="3", parent_id="1")
        assert kept(judge(outer, vector, rerank)) == ["vector", "rerank", "search"]

    def test_wrappers_of_wrappers(self) -> None:
        """Wrappers are looked through at any depth."""
        outer = stage("app", "a", at=50, span_id="1")
        middle = stage("search", "a", at=40, span_id="2", parent_id="1")
        inner = stage("retriever", "a", at=30, span_id="3", parent_id="2")
        vector = stage("vector", "a", at=20, span_id="4", parent_id="3")
        for order in itertools.permutations((outer, middle, inner, vector)):
            assert kept(judge(*order)) == ["vector"]

    def test_below_at_depth_through_a_stage_that_is_kept(self) -> None:
        """A stage two levels below counts, though the one between is a stage of its own that ended before it."""
        outer = stage("app", "c", at=50, span_id="1")
        middle = stage("search", "b", at=20, span_id="2", parent_id="1")
        vector = stage("vector", "c", at=30, span_id="3", parent_id="2")
        assert kept(judge(outer, middle, vector)) == ["search", "vector"]

    def test_left_out_stages_make_no_wrapper(self) -> None:
        """A stage below that is left out (a failed packing) is not among those kept."""
        outer = stage("search", "a", at=30, span_id="1")
        vector = stage("vector", "b", at=10, span_id="2", parent_id="1")
        packing = stage("packing", "a", at=20, span_id="3", parent_id="1", failed=True)
        assert kept(judge(outer, vector, packing)) == ["vector", "search"]
        assert kept(judge(outer, packing)) == ["search"]

    def test_unreadable_lists_are_not_the_same_list(self) -> None:
        """Two stages of which no ID could be read are two stages."""
        outer = stage("search", None, at=30, span_id="1")
        inner = stage("vector", None, at=10, span_id="2", parent_id="1")
        assert kept(judge(outer, inner)) == ["vector", "search"]

    def test_empty_lists_are_the_same_list(self) -> None:
        """A wrapper around a stage that returned nothing returned nothing."""
        outer = stage("search", "", at=30, span_id="1")
        inner = stage("vector", "", at=10, span_id="2", parent_id="1")
        assert kept(judge(outer, inner)) == ["vector"]

    def test_a_count_that_is_no_cut(self) -> None:
        """A count of no more than the recorded IDs makes no other list of it."""
        outer = stage("search", "b a", at=30, span_id="1", count=1)
        assert kept(judge(outer, stage("vector", "b a", at=10, parent_id="1"))) == ["vector"]

    def test_unrelated_parent_is_no_stage(self) -> None:
        """A parent span that is no stage of the handoff wraps nothing."""
        assert kept(judge(stage("vector", "a", parent_id="f" * 16), stage("rerank", "a"))) == ["vector", "rerank"]

    def test_same_span_id_in_another_trace_is_no_parent(self) -> None:
        """A parent is looked for in the trace of its child."""
        outer = stage("search", "a", at=30, span_id="1", trace_id="t")
        inner = stage("vector", "a", at=10, span_id="2", trace_id="u", parent_id="1")
        assert kept(judge(outer, inner)) == ["vector", "search"]

    def test_parents_in_a_circle_end(self) -> None:
        """Spans that name each other as parents are bad data, not an endless loop."""
        one = stage("vector", "a", at=10, span_id="1", parent_id="2")
        two = stage("rerank", "b", at=20, span_id="2", parent_id="1")
        own = stage("mmr", "c", at=30, span_id="3", parent_id="3")
        assert kept(judge(one, two, own)) == ["vector", "rerank", "mmr"]


class TestLate:
    """A stage that ends after its handoff."""

    def test_late_stage_is_left_out(self) -> None:
        """A stage that ended after its handoff is left out, with a finding of its kind, name and round."""
        result = judge(stage("vector", "a"), stage("rescue", "b", at=END + 1, name="p", round=2))
        assert kept(result) == ["vector"]
        late = the(result, "stage_late")
        assert (late.stage, late.name, late.round, late.severity, late.ids) == ("rescue", "p", 2, "warning", ())
        assert result.verdict == "PASS"

    def test_ending_together_is_not_late(self) -> None:
        """A stage that ends in the very nanosecond of its handoff is in time."""
        assert codes(judge(stage("vector", "a", at=END))) == []

    def test_a_stage_that_never_ended_is_late(self) -> None:
        """A stage that was still running when its handoff ended is late."""
        result = judge(stage("vector", "a"), stage("rerank", "b", end_ns=None, start_ns=5, span_id="9"))
        assert (kept(result), codes(result)) == (["vector"], [("stage_late", "rerank")])

    def test_late_reader(self) -> None:
        """A reader that ends after the handoff is late too, and not checked."""
        result = judge(stage("packing", "a", labels="S1"), stage("reader", "", at=END + 1))
        assert codes(result) == [("stage_late", "reader")]


class TestFailed:
    """Stages whose span has status ERROR."""

    @pytest.mark.parametrize("kind", ["packing", "rescue"])
    def test_failed_showing_stage_is_left_out(self, kind: str) -> None:
        """A packing or rescue span that failed showed nothing: left out, a warning where another one is there."""
        result = judge(stage("vector", "b a"), stage("packing", "b a"), stage(kind, None, failed=True))
        assert (kept(result), result.verdict) == (["vector", "packing"], "PASS")
        assert (codes(result), result.findings[0].severity) == ([("stage_failed", kind)], "warning")
        assert the(judge(stage("vector", "a"), stage(kind, None, failed=True)), "stage_failed").severity == "error"

    def test_one_that_is_late_as_well_is_no_retry(self) -> None:
        """A failed rescue that ended after the handoff is an error, whatever else was shown."""
        result = judge(stage("packing", "a"), stage("rescue", "a", at=END + 1, failed=True))
        assert [(each.code, each.severity) for each in result.findings] == [
            ("stage_failed", "error"),
            ("stage_late", "warning"),
        ]

    @pytest.mark.parametrize("kind", ["vector", "rerank", "custom"])
    def test_other_failed_stages_are_kept(self, kind: str) -> None:
        """Any other stage that failed is kept with what it returned."""
        result = judge(stage(kind, "a", failed=True))
        assert (kept(result), codes(result)) == ([kind], [("stage_failed", kind)])

    def test_a_failed_wrapper_is_no_finding(self) -> None:
        """A stage that only wraps another one and failed after it is left out with its failure."""
        outer = stage("search", "a", at=30, span_id="1", failed=True)
        assert codes(judge(outer, stage("vector", "a", at=10, parent_id="1"))) == []


class TestPackingUnseen:
    """Handoffs whose only packing failed, or ended after them."""

    @pytest.mark.parametrize("selected", ["a", "x"])
    @pytest.mark.parametrize(
        "packing",
        [
            stage("packing", "a", failed=True),
            stage("packing", "a", at=END + 1),
            stage("packing", "a", end_ns=None, start_ns=5, span_id="9"),
        ],
        ids=["failed", "late", "running"],
    )
    def test_nothing_is_certain(self, packing: StageRecord, selected: str) -> None:
        """What came before such a packing is not what the reader was shown: no PASS, no FAIL, nothing shown."""
        result = judge(stage("vector", "b a"), packing, selected=selected, judged="a")
        assert (result.verdict, result.selected_rank, result.drop) == ("UNVERIFIABLE", None, None)
        assert (result.shown.ids, result.shown.selected, result.shown.judged) == ((), {}, {})

    def test_rescue_does_not_stand_in_for_it(self) -> None:
        """What a rescue adds to a packing says nothing of what the packing would have shown."""
        result = judge(stage("vector", "a"), stage("packing", None, failed=True), stage("rescue", "a"))
        assert result.verdict == "UNVERIFIABLE"

    def test_another_packing_is_what_was_shown(self) -> None:
        """Where a second attempt packed, the reader saw that one."""
        result = judge(
            stage("vector", "b a"),
            stage("packing", None, failed=True),
            stage("packing", "a"),
            stage("packing", at=END + 1),
        )
        assert (result.verdict, result.shown.ids) == ("PASS", ("a",))
