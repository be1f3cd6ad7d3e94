"""What feeds a stage, and what is known of its input."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from rop_otel.core.handoff import HandoffRecord, StageRecord, assess
from tests.core.build import codes, fed, found, judge, stage, the


class TestChains:
    """Feeds without rounds and without ``fed_by``."""

    @pytest.mark.parametrize(
        ("earlier", "expected"),
        [
            ([stage("vector", "a")], "a"),
            ([stage("vector", "a"), stage("lexical", "b")], "a b"),
            ([stage("vector", "a"), stage("lexical", "b"), stage("fusion", "c")], "c"),
            ([stage("vector", "a"), stage("rerank", "b"), stage("lexical", "c")], "c"),
            ([stage("vector", "a"), stage("web", "b", source=True)], "a b"),
            ([stage("vector", "a"), stage("web", "b")], "b"),
            ([stage("vector", "a"), stage("rerank", "b", source=True)], "b"),
            ([stage("vector", "a"), stage("reader", "b")], "a"),
            ([stage("vector", "a"), stage("reader", "b"), stage("lexical", "c")], "a c"),
            ([stage("reader", "a")], ""),
            ([stage("vector", "a"), stage("lexical", "a")], "a"),
            ([stage("vector", "- b")], "b"),
            ([stage("vector", "a"), stage("lexical", None)], "a"),
            ([stage("vector", "a"), stage("rerank", None)], ""),
            ([stage("vector", "a", count=9)], "a"),
        ],
    )
    def test_tail(self, earlier: list[object], expected: str) -> None:
        """A stage is fed by the last stage, or by the sources that the chain ends in; readers feed nothing."""
        assert fed(*earlier, stage("mmr")) == expected  # type: ignore[arg-type]

    @pytest.mark.parametrize("source", [stage("vector"), stage("lexical"), stage("web", source=True)])
    def test_sources_are_fed_by_nothing(self, source: object) -> None:
        """A source takes no documents, whatever ran before it."""
        assert fed(stage("rerank", "a"), source) == ""  # type: ignore[arg-type]

    def test_readers_are_fed(self) -> None:
        """A reader is fed like any stage, though it feeds nothing."""
        assert fed(stage("packing", "a"), stage("reader")) == "a"


class TestFedBy:
    """Feeds that a stage names."""

    def test_latest_of_that_name(self) -> None:
        """Each name stands for the latest earlier stage of that name, or of that kind where none has that name."""
        stages = (stage("vector", "a"), stage("vector", "b"), stage("lexical", "c", name="bm25"), stage("rerank", "d"))
        assert fed(*stages, stage("fusion", fed_by=("vector", "bm25"))) == "b c"
        assert fed(*stages, stage("fusion", fed_by=("vector", "vector"))) == "b"
        assert fed(*stages, stage("fusion", fed_by=("lexical",))) == "c"

    def test_a_named_stage_is_not_its_kind(self) -> None:
        """A stage that has a name goes by it, not by its kind."""
        assert fed(stage("vector", "a"), stage("vector", "b", name="dense"), stage("fusion", fed_by=("vector",))) == "a"

    def test_later_and_unknown_names_feed_nothing(self) -> None:
        """A name that no earlier stage has feeds nothing; the rule does not step in for it."""
        assert fed(stage("vector", "a"), stage("mmr", fed_by=("nowhere",))) == ""
        after = stage("rerank", "b", at=500)
        assert fed(after, stage("vector", "a"), stage("mmr", fed_by=("rerank", "vector"), at=400)) == "a"

    def test_same_round_only(self) -> None:
        """A stage of another round, or of none, is not meant."""
        one, two, none = stage("vector", "a", round=1), stage("vector", "b", round=2), stage("vector", "c")
        assert fed(one, two, none, stage("mmr", fed_by=("vector",), round=1)) == "a"
        assert fed(one, two, none, stage("mmr", fed_by=("vector",))) == "c"
        assert fed(one, two, stage("mmr", fed_by=("vector",))) == ""

    def test_no_readers(self) -> None:
        """Naming feeds does not make a reader feed anything."""
        assert fed(stage("reader", "a"), stage("mmr", fed_by=("reader",))) == ""

    def test_a_source_that_names_its_feeds(self) -> None:
        """A source that looks for more of what another stage found is fed by that one."""
        assert fed(stage("rerank", "a"), stage("vector", fed_by=("rerank",))) == "a"

    def test_a_stage_does_not_feed_itself(self) -> None:
        """The second of two stages of one kind can name the first."""
        assert fed(stage("mmr", "a"), stage("mmr", "b", fed_by=("mmr",))) == "a"


class TestRounds:
    """Feeds in a handoff of several rounds."""

    def test_within_a_round(self) -> None:
        """A stage with a round is fed by the tail of its round alone, interleaved or not."""
        stages = (stage("vector", "a", round=1), stage("vector", "b", round=2), stage("lexical", "c", round=1))
        assert fed(*stages, stage("fusion", round=1)) == "a c"
        assert fed(*stages, stage("fusion", round=2)) == "b"
        assert fed(*stages, stage("fusion", round=3)) == ""
        assert fed(stage("vector", "a"), stage("fusion", round=1)) == ""

    def test_after_the_rounds(self) -> None:
        """A stage without a round is fed by the tail of every round since the last stage without one."""
        rounds = (stage("vector", "a", round=1), stage("mmr", "b", round=1), stage("vector", "c", round=2))
        assert fed(*rounds, stage("packing")) == "b c"
        assert fed(stage("vector", "d"), *rounds, stage("packing")) == "b c d"

    def test_rounds_before_the_previous_stage_do_not_count(self) -> None:
        """Rounds that lie before the previous stage without one reached that one, not this."""
        first = stage("vector", "a", round=1)
        assert fed(first, stage("fusion", "b"), stage("vector", "c", round=2), stage("packing")) == "b c"
        assert fed(first, stage("fusion", "b"), stage("packing")) == "b"

    def test_trailing_sources_of_a_round(self) -> None:
        """The tail of a round may be several sources."""
        assert fed(stage("vector", "a", round=1), stage("lexical", "b", round=1), stage("fusion")) == "a b"

    def test_what_a_stage_without_a_round_took(self) -> None:
        """Of each round only its stages since the last one without a round that is no source are handed on."""
        first, second = stage("vector", "a", round=1), stage("lexical", "c", round=1)
        assert fed(first, stage("expansion", "b"), second, stage("packing")) == "b c"
        assert fed(first, stage("vector", "b"), second, stage("packing")) == "a b c"
        assert fed(first, stage("expansion", "b"), second, stage("fusion", round=1)) == "a c"


class TestInput:
    """What is known of a stage's input, seen by the documents that it may not add."""

    @pytest.mark.parametrize(
        ("feed", "given", "count", "foreign"),
        [
            ("a", None, None, "x"),
            ("a", "a", None, "x"),
            ("a", "a x", None, ""),
            ("a", "", None, "a x"),
            ("a", "a", 1, "x"),
            ("a", "a", 0, "x"),
            ("a", "a", 2, ""),
            (None, None, None, ""),
            (None, "a", None, "x"),
            ("", None, None, "a x"),
        ],
    )
    def test_recorded_or_fed(self, feed: str | None, given: str | None, count: int | None, foreign: str) -> None:
        """The input is what was recorded, unknown if cut; without that what was fed, unknown if that is."""
        result = judge(stage("vector", feed), stage("rerank", "x a", given=given, input_count=count))
        assert [" ".join(finding.ids) for finding in found(result, "foreign_ids")] == ([foreign] if foreign else [])

    def test_unknown_feeds(self) -> None:
        """Fed by nothing, by a cut list or by one that is unreadable: the input is unknown."""
        assert codes(judge(stage("rerank", "x a"))) == []
        assert codes(judge(stage("vector", "a", count=2), stage("rerank", "x a"))) == []
        result = judge(stage("vector", "a"), stage("lexical", None), stage("rerank", "x a"))
        assert codes(result) == [("ids_unreadable", "lexical")]

    def test_all_feeds_together(self) -> None:
        """Of several feeds the input is all they returned."""
        result = judge(stage("vector", "a b"), stage("lexical", "c"), stage("rerank", "a b c d"))
        assert the(result, "foreign_ids").ids == ("d",)


@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "custom", "fed_by": ("elsewhere", "custom")},
        {"kind": "candidates", "scores": (0.5, 0.4), "input": ("a", "b", "c")},
        {"kind": "packing", "input": ("a", "b", "c")},
    ],
    ids=["named feeds", "scored cuts", "packing"],
)
def test_thousands_of_stages_are_assessed_in_time(shape: dict[str, Any]) -> None:
    """What feeds a stage is not looked for among all the stages before it."""
    expansion = StageRecord(kind="expansion", span_id="e", returned=("a", "b", "c"), start_ns=0, end_ns=0)
    stages = [
        StageRecord(**{"span_id": f"{n:05}", "returned": ("a", "b"), "start_ns": n, "end_ns": n, **shape})
        for n in range(1, 20_000)
    ]
    if shape["kind"] == "packing":
        stages = [item for n, one in enumerate(stages) for item in (replace(expansion, span_id=f"e{n}", end_ns=n), one)]
    started = time.process_time()
    assess(HandoffRecord(name="qa", handoff_id="h", selected=("c",), stages=tuple(stages), start_ns=0, end_ns=10**9))
    assert time.process_time() - started < 60.0  # a few seconds at most, and minutes where each looks at all others
