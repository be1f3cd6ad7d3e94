"""Findings about the lists themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rop_otel.core.handoff import StageRecord
from tests.core.build import CHUNKS, END, codes, found, judge, stage, the, words

KEEPING = ["boost", "candidates", "rerank", "mmr", "reorder", "sentence_selection", "packing"]
ADDING = ["vector", "lexical", "fusion", "expansion", "rescue", "reader", "web"]


class TestSilentCut:
    """Documents that the feed returned and the next stage was not handed."""

    @pytest.mark.parametrize("kind", [*KEEPING, "fusion", "expansion", "reader", "web"])
    def test_any_stage_but_rescue(self, kind: str) -> None:
        """The fed IDs that a recorded input lacks, sorted; whatever the stage is."""
        finding = the(judge(stage("vector", "c a b"), stage(kind, "b", given="b", name="n", round=None)), "silent_cut")
        assert (finding.ids, finding.stage, finding.name, finding.severity) == (("a", "c"), kind, "n", "warning")
        assert "a" in finding.message

    def test_rescue_is_exempt(self) -> None:
        """A rescue is handed what it likes."""
        assert found(judge(stage("packing", "a b"), stage("rescue", "", given="b")), "silent_cut") == []

    @pytest.mark.parametrize(
        ("given", "count", "missing"),
        [(None, None, ""), ("b", 2, ""), ("b", 1, "a"), ("", None, "a b"), ("a b", None, ""), ("b a x", None, "")],
    )
    def test_only_recorded_and_uncut_inputs(self, given: str | None, count: int | None, missing: str) -> None:
        """An input that was not recorded, or was cut, proves nothing."""
        result = judge(stage("vector", "a b"), stage("fusion", "a", given=given, input_count=count))
        assert [finding.ids for finding in found(result, "silent_cut")] == ([words(missing)] if missing else [])

    def test_readable_feeds_and_cut_ones(self) -> None:
        """Of several feeds the readable ones count, also with what is recorded of a cut one."""
        result = judge(stage("vector", None), stage("lexical", "a b", count=9), stage("fusion", "b", given="b"))
        assert the(result, "silent_cut").ids == ("a",)

    def test_objects(self) -> None:
        """Another ID of the same object is no cut, and what an unknown ID is missing is."""
        result = judge(stage("vector", "doc#0 x"), stage("mmr", "", given="doc#1"), resolver=CHUNKS)
        assert the(result, "silent_cut").ids == ("x",)

    def test_unreadable_documents_are_in_no_finding(self) -> None:
        """An empty ID that is missing is not reported."""
        assert codes(judge(stage("vector", "- a"), stage("mmr", "a", given="a"))) == []

    def test_repeats_once(self) -> None:
        """An ID that was returned twice is reported once."""
        assert the(judge(stage("vector", "a a"), stage("mmr", "", given="")), "silent_cut").ids == ("a",)


class TestForeignIds:
    """Documents from nowhere."""

    @pytest.mark.parametrize("kind", KEEPING)
    def test_kinds_that_may_not_add(self, kind: str) -> None:
        """A stage that may not add documents returned some, sorted."""
        finding = the(judge(stage("vector", "a"), stage(kind, "z a x")), "foreign_ids")
        assert (finding.ids, finding.stage, finding.severity) == (("x", "z"), kind, "warning")

    @pytest.mark.parametrize("kind", ADDING)
    def test_kinds_that_may(self, kind: str) -> None:
        """Sources, fusion, expansion, rescue, readers and custom stages may add documents."""
        assert found(judge(stage("vector", "a"), stage(kind, "z a x", given="a")), "foreign_ids") == []

    def test_objects_and_unreadable(self) -> None:
        """Another ID of a handed object is not foreign, nor is a document without one."""
        assert codes(judge(stage("vector", "doc#0"), stage("mmr", "doc#1 -"), resolver=CHUNKS)) == []
        assert codes(judge(stage("vector", "doc#0"), stage("mmr", "doc#1"))) == [("foreign_ids", "mmr")]

    def test_empty_input(self) -> None:
        """Handed nothing, it can return nothing of its own."""
        assert the(judge(stage("vector", ""), stage("mmr", "x")), "foreign_ids").ids == ("x",)

    def test_cut_list(self) -> None:
        """What is recorded of a cut list is looked at."""
        assert the(judge(stage("vector", "a"), stage("mmr", "x", count=5)), "foreign_ids").ids == ("x",)


class TestDuplicateIds:
    """Repeated IDs."""

    @pytest.mark.parametrize("kind", [*KEEPING, *ADDING])
    def test_any_stage(self, kind: str) -> None:
        """The repeated IDs of a returned list, each once, sorted."""
        finding = the(judge(stage(kind, "c b c a b b - -")), "duplicate_ids")
        assert (finding.ids, finding.severity) == (("b", "c"), "info")

    def test_ids_not_objects(self) -> None:
        """Two chunks of one document are no repeat."""
        assert codes(judge(stage("vector", "doc#0 doc#1"), selected="doc", resolver=CHUNKS)) == []

    def test_unreadable_documents_repeat_nothing(self) -> None:
        """Two documents without an ID are not one."""
        assert codes(judge(stage("vector", "- -"))) == []

    def test_inputs_may_repeat(self) -> None:
        """Only returned lists are looked at: a fusion is handed what both arms found."""
        assert codes(judge(stage("vector", "a"), stage("lexical", "a"), stage("fusion", "a", given="a a"))) == []


class TestScopeLeak:
    """Documents of another container."""

    @pytest.mark.parametrize(
        ("scopes", "leaked"),
        [("t1 t1 t1", ""), ("t1 t2 t3", "b c"), ("t2 - t1", "a"), ("t2 t2", ""), ("", ""), ("t2 t2 t2 t2", "")],
    )
    def test_known_and_other(self, scopes: str, leaked: str) -> None:
        """A known scope other than the handoff's; empty ones are unknown, lists of another length are ignored."""
        for kind in ("vector", "rerank", "reader"):
            result = judge(stage(kind, "a b c", scopes=words(scopes)), scope_id="t1")
            assert [finding.ids for finding in found(result, "scope_leak")] == ([words(leaked)] if leaked else [])

    def test_without_a_scope(self) -> None:
        """A query that is confined to nothing leaks nothing."""
        assert codes(judge(stage("vector", "a", scopes=("t2",)))) == []

    def test_severity_and_order(self) -> None:
        """A leak is an error; its IDs are sorted, each once."""
        finding = the(judge(stage("vector", "c b c", scopes=("x", "y", "x")), scope_id="t"), "scope_leak")
        assert (finding.ids, finding.severity) == (("b", "c"), "error")


class TestUnreadableAndFallback:
    """Findings of one attribute."""

    @pytest.mark.parametrize("kind", [*KEEPING, *ADDING])
    def test_ids_unreadable(self, kind: str) -> None:
        """A stage without returned IDs is an error, unless it is a reader or failed; an empty list is a list."""
        result = judge(stage(kind, None))
        assert codes(result) == ([] if kind == "reader" else [("ids_unreadable", kind)])
        assert all(finding.severity == "error" for finding in result.findings)
        assert found(judge(stage(kind, "")), "ids_unreadable") == []
        assert found(judge(stage(kind, None, failed=True)), "ids_unreadable") == []

    @pytest.mark.parametrize("kind", ["vector", "rerank", "reader", "web"])
    def test_fallback_used(self, kind: str) -> None:
        """A stage that ran its fallback is a warning, with what ran in its message."""
        result = judge(stage(kind, "", fallback=True, implementation="bm25-overlap"))
        finding = the(result, "fallback_used")
        assert (finding.severity, finding.ids, "bm25-overlap" in finding.message) == ("warning", (), True)

    def test_left_out_stages_have_no_findings(self) -> None:
        """A stage that was left out is reported as late or failed, and nothing else."""
        facts: dict[str, Any] = {"fallback": True, "scopes": ("x", "x")}
        late = stage("mmr", "a a", at=END + 5, **facts)
        failed = stage("packing", None, failed=True, **facts)
        assert codes(judge(stage("vector", "a"), failed, late, scope_id="t")) == [
            ("stage_failed", "packing"),
            ("stage_late", "mmr"),
        ]


class TestNothingReturned:
    """Empty lists."""

    def empty(self, *stages: StageRecord) -> list[str]:
        """Return the stages that are reported."""
        return [finding.name or finding.stage for finding in found(judge(*stages), "nothing_returned")]

    @pytest.mark.parametrize("kind", [*KEEPING, *ADDING])
    def test_though_handed_documents(self, kind: str) -> None:
        """A stage that was handed documents and returned none is a warning; rescue and reader may."""
        assert self.empty(stage("rerank", "a"), stage(kind, "", given="a")) == (
            [] if kind in {"rescue", "reader"} else [kind]
        )
        assert self.empty(stage(kind, None, given="a"), stage(kind, "", given="a", count=2)) == []

    def test_all_of_the_parallel_sources(self) -> None:
        """Sources are reported where all of those next to each other returned nothing, at the last of them."""
        assert self.empty(stage("vector", "")) == ["vector"]
        assert self.empty(stage("vector", ""), stage("lexical", "")) == ["lexical"]
        assert self.empty(stage("vector", ""), stage("lexical", "a")) == []
        assert self.empty(stage("vector", ""), stage("lexical", None)) == []
        assert self.empty(stage("vector", ""), stage("mmr", ""), stage("lexical", "a")) == ["vector"]

    def test_a_source_in_place_of_its_wrapper(self) -> None:
        """A source within a source that only wraps it is parallel to those beside that one."""
        outer = stage("dense", "", source=True, at=30, span_id="1")
        inner = stage("vector", "", at=20, parent_id="1")
        assert self.empty(outer, inner) == ["vector"]
        assert self.empty(outer, inner, stage("lexical", "a", at=40)) == []


class TestWithin:
    """Stages that run others."""

    def test_what_was_found_within_is_not_foreign(self) -> None:
        """A stage that may not add documents may return what the last stage within it returned, if that is known."""
        before = stage("vector", "a", at=10)
        outer = stage("packing", "a b", given="a", at=30, span_id="1")
        inner = stage("rescue", "b", at=20, parent_id="1")
        assert codes(judge(before, outer, inner)) == []
        assert codes(judge(before, outer, replace(inner, returned=("c",)))) == [("foreign_ids", "packing")]
        assert codes(judge(before, outer, replace(inner, returned=("c",), returned_count=9))) == []

    def test_what_was_found_within_is_no_silent_cut(self) -> None:
        """Only the lists of stages outside have to be among what a stage was handed."""
        inner = stage("web", "b", at=20, parent_id="1")
        assert codes(judge(stage("vector", "a", at=10), inner, stage("mmr", "a", given="a", at=30, span_id="1"))) == []


class TestNotObserved:
    """Declared stages that no span shows."""

    def test_one_each(self) -> None:
        """One warning for each, under the declared name, without a name or round of its own."""
        result = judge(stage("packing", "a"), expected=("vector", "packing", "reader"))
        assert [(each.stage, each.name, each.round) for each in found(result, "stage_not_observed")] == [
            ("vector", None, None),
            ("reader", None, None),
        ]
        assert {each.severity for each in result.findings} == {"warning"}

    @pytest.mark.parametrize(
        ("observed", "expected", "missing"),
        [
            (stage("rerank", "a", name="ce"), "ce", False),
            (stage("rerank", "a", name="ce"), "rerank", False),
            (stage("rerank", "a", name="ce"), "mmr", True),
            (stage("rerank", "a"), "rerank", False),
            (stage("rerank", None), "rerank", False),
            (stage("packing", "a", failed=True), "packing", False),
            (stage("mmr", "a", at=END + 1), "mmr", False),
            (stage("reader", None), "reader", False),
        ],
    )
    def test_any_span_counts(self, observed: StageRecord, expected: str, missing: bool) -> None:
        """A stage is observed under its name, else its kind, whether it was left out or not."""
        result = judge(stage("vector", "a"), observed, expected=(expected,))
        assert bool(found(result, "stage_not_observed")) is missing

    def test_a_declared_name_is_not_its_kind(self) -> None:
        """Where a stage's name is declared itself, that span does not count for its kind as well."""
        result = judge(stage("rerank", "a", name="light"), expected=("light", "rerank"))
        assert the(result, "stage_not_observed").stage == "rerank"

    def test_a_wrapper_counts(self) -> None:
        """A wrapper that is left out was observed."""
        outer = stage("search", "a", at=30, span_id="1")
        assert codes(judge(outer, stage("vector", "a", at=10, parent_id="1"), expected=("search", "vector"))) == []


def test_findings_are_in_stage_order_then_code() -> None:
    """Findings come by stage, then code, at most one per code and stage span."""
    result = judge(
        stage("vector", "b b a", fallback=True, scopes=("x", "x", "t")),
        stage("rerank", "z z", given="b", fallback=True),
        scope_id="t",
        selected=None,
    )
    assert codes(result) == [
        ("duplicate_ids", "vector"),
        ("fallback_used", "vector"),
        ("scope_leak", "vector"),
        ("duplicate_ids", "rerank"),
        ("fallback_used", "rerank"),
        ("foreign_ids", "rerank"),
        ("silent_cut", "rerank"),
    ]


def test_ids_are_sorted_by_code_point() -> None:
    """Not by locale, length or case."""
    ids = "b B a10 a9 é \U0001f600 \ufb01"
    finding = the(judge(stage("vector", f"{ids} {ids}")), "duplicate_ids")
    assert finding.ids == ("B", "a10", "a9", "b", "é", "\ufb01", "\U0001f600")
