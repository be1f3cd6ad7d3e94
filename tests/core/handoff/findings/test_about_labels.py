"""Findings about citation labels: what the reader was shown under one, and what it resolves to in the response."""

from __future__ import annotations

from typing import Any

import pytest

from rop_otel.core.handoff import CitationCounts, StageRecord
from tests.core.build import CHUNKS, codes, found, judge, stage, the, words

READER_CHECKS = {"label_unattached", "label_misattributed", "citation_unresolved"}


def cites(answer: str, returned: str | None = None, **facts: Any) -> StageRecord:
    """Return a reader whose answer cites these labels."""
    return stage("reader", returned, citations=words(answer), **facts)


def about(*stages: StageRecord, **facts: Any) -> dict[str, tuple[str, str]]:
    """Return code to IDs and labels of the label findings; at most one each."""
    findings = [each for each in judge(*stages, **facts).findings if each.code.startswith(("label", "citation_"))]
    assert len({each.code for each in findings}) == len(findings)
    return {each.code.value: (" ".join(each.ids), " ".join(each.labels)) for each in findings}


class TestMalformed:
    """Labels that do not align with the IDs."""

    @pytest.mark.parametrize("kind", ["packing", "rescue", "reader"])
    @pytest.mark.parametrize(("ids", "labels"), [("a b", "S1"), ("a", "S1 S2"), ("", "S1")])
    def test_another_number(self, kind: str, ids: str, labels: str) -> None:
        """More or fewer labels than IDs are an error, and are left out of every check."""
        finding = the(judge(stage(kind, ids, labels=labels)), "labels_malformed")
        assert (finding.stage, finding.severity, finding.ids, finding.labels) == (kind, "error", (), ())
        assert finding.message == f"{kind} gave {len(labels.split())} labels for {len(ids.split())} IDs"

    def test_other_kinds_have_no_labels(self) -> None:
        """Only packing, rescue and readers have labels."""
        assert codes(judge(stage("rerank", "a b", labels="S1"))) == []

    def test_empty_lists(self) -> None:
        """No labels for some IDs are malformed; for a reader an empty list is not given; none at all are fine."""
        assert codes(judge(stage("packing", "a", labels=""))) == [("labels_malformed", "packing")]
        assert codes(judge(stage("reader", "a", labels=""))) == []
        assert codes(judge(stage("packing", "", labels=""))) == []
        assert codes(judge(stage("packing", "a"))) == []

    def test_of_the_shown_list_end_the_readers_checks(self) -> None:
        """Where shown labels are malformed nothing is known of what the reader was shown under them."""
        stages = (stage("packing", "a b", labels="S1"), cites("S9", ""))
        assert set(about(*stages)) == {"labels_malformed"}

    def test_of_the_reader_leave_only_its_citations(self) -> None:
        """A reader with malformed labels attaches nothing known."""
        stages = (stage("packing", "a b", labels="S1 S2"), cites("S1 S9", "x", labels="S1 S2"))
        assert about(*stages) == {"labels_malformed": ("", ""), "citation_unresolved": ("", "S9")}


class TestDuplicate:
    """One label for two documents."""

    def test_within_one_stage(self) -> None:
        """Both IDs of each label that stands for another ID than the first."""
        stages = (stage("packing", "b a c d", labels="S1 S1 S2 S2"),)
        finding = the(judge(*stages), "label_duplicate")
        assert (finding.ids, finding.labels, finding.severity) == (("a", "b", "c", "d"), ("S1", "S2"), "error")

    def test_reported_at_the_later_stage(self) -> None:
        """A rescue that starts its labels anew is where it goes wrong."""
        result = judge(stage("packing", "a b", labels="S1 S2"), stage("rescue", "c", labels="S1"))
        finding = the(result, "label_duplicate")
        assert (finding.stage, finding.ids, finding.labels) == ("rescue", ("a", "c"), ("S1",))

    def test_against_the_first(self) -> None:
        """Each later document is compared with the first under that label, not with the one before it."""
        stages = (
            stage("packing", "a", labels="S1"),
            stage("rescue", "b", labels="S1"),
            stage("rescue", "a", labels="S1"),
        )
        assert [each.ids for each in found(judge(*stages), "label_duplicate")] == [("a", "b")]

    def test_every_other_document(self) -> None:
        """A label that stands for three documents in one stage names all three, whichever comes last."""
        assert about(stage("packing", "c a b", labels="S1 S1 S1")) == {"label_duplicate": ("a b c", "S1")}
        assert about(stage("packing", "c a c b", labels="S1 S1 S1 S1")) == {"label_duplicate": ("a b c", "S1")}

    def test_the_same_document_again(self) -> None:
        """A label that is repeated for the same ID is no duplicate."""
        assert about(stage("packing", "a a", labels="S1 S1"), stage("rescue", "a", labels="S1")) == {}

    @pytest.mark.parametrize(
        ("ids", "duplicate"), [("doc doc#0", False), ("doc#1 doc", False), ("Doc doc", False), ("doc#0 doc#1", True)]
    )
    def test_match(self, ids: str, duplicate: bool) -> None:
        """A document and its chunk match; two chunks of one document do not, nor does anything without a resolver."""
        packing = stage("packing", ids, labels="S1 S1")
        assert bool(about(packing, selected="doc", resolver=CHUNKS)) is duplicate
        assert about(packing, selected="doc") != {}

    def test_unknown_to_the_resolver(self) -> None:
        """Two IDs that no object owns are two documents."""
        packing = stage("packing", "x y", labels="S1 S1")
        assert about(packing, resolver=CHUNKS) == {"label_duplicate": ("x y", "S1")}

    def test_rounds_have_their_own_labels(self) -> None:
        """The same label in another round is another label."""
        one, two = stage("packing", "a", labels="S1", round=1), stage("packing", "b", labels="S1", round=2)
        assert about(one, two) == {}
        again = stage("rescue", "c", labels="S1", round=1)
        assert about(one, two, again) == {"label_duplicate": ("a c", "S1")}

    def test_only_what_is_shown(self) -> None:
        """A document without text shows no label, and unreadable documents are in no finding."""
        assert about(stage("packing", "a b", labels="S1 S1", id_tokens=(5, 0))) == {}
        assert about(stage("packing", "a b", labels="S1 S1", id_tokens=(0, 5))) == {}
        assert about(stage("packing", "a -", labels="S1 S1")) == {}
        assert about(stage("packing", "- a", labels="S1 S1")) == {}
        assert about(stage("packing", "-", labels="S1"), stage("rescue", "a", labels="S1")) == {}

    def test_malformed_and_cut(self) -> None:
        """Malformed labels are left out; of a cut list those recorded count."""
        assert set(about(stage("packing", "a b", labels="S1 S1 S1"))) == {"labels_malformed"}
        assert set(about(stage("packing", "a b", labels="S1 S1", count=9))) == {"label_duplicate"}


PACKING = stage("packing", "a b", labels="S1 S2")


class TestByPosition:
    """Readers without labels of their own: the n-th distinct shown label is the n-th source."""

    @pytest.mark.parametrize(
        ("sources", "unattached", "misattributed"),
        [
            ("a b", None, None),
            ("a b c", None, None),
            ("b a", None, ("a b", "S1 S2")),
            ("a c", None, ("b c", "S2")),
            ("a", ("b", "S2"), None),
            ("b", ("b", "S2"), ("a b", "S1")),
            ("", ("a b", "S1 S2"), None),
            ("- b", None, None),
            (None, None, None),
        ],
    )
    def test_sources(
        self, sources: str | None, unattached: tuple[str, str] | None, misattributed: tuple[str, str] | None
    ) -> None:
        """A label that resolves to nothing is unattached, one that resolves to another document misattributed."""
        checks = about(PACKING, stage("reader", sources))
        assert (checks.get("label_unattached"), checks.get("label_misattributed")) == (unattached, misattributed)

    def test_unreadable_documents(self) -> None:
        """A shown document without an ID is in no finding, whatever its label resolves to."""
        packing = stage("packing", "- b", labels="S1 S2")
        assert about(packing, stage("reader", "a b")) == {}
        assert about(packing, stage("reader", "")) == {"label_unattached": ("b", "S2")}

    def test_distinct_labels(self) -> None:
        """A label that is shown twice has one place, and documents without text have none."""
        packing = stage("packing", "a a b", labels="S1 S1 S2")
        assert about(packing, stage("reader", "a b")) == {}
        packing = stage("packing", "a x b", labels="S1 S2 S3", id_tokens=(5, 0, 5))
        assert about(packing, stage("reader", "a b")) == {}

    def test_over_packing_and_rescue(self) -> None:
        """Places are counted over all that was shown, in order."""
        stages = (PACKING, stage("rescue", "c", labels="S3"))
        assert about(*stages, stage("reader", "a b c")) == {}
        assert about(*stages, stage("reader", "a b")) == {"label_unattached": ("c", "S3")}

    def test_at_the_reader(self) -> None:
        """The findings are errors at the reader, by its name and round."""
        result = judge(PACKING, cites("S9", "b", name="r"))
        assert {(each.stage, each.name, each.severity.value) for each in result.findings} == {("reader", "r", "error")}
        assert {each.code.value for each in result.findings} == READER_CHECKS

    def test_cut_reader(self) -> None:
        """Where the reader's list is cut a label may resolve to what was not recorded."""
        assert about(PACKING, stage("reader", "a", count=2)) == {}
        assert about(PACKING, stage("reader", "b", count=2)) == {"label_misattributed": ("a b", "S1")}


class TestByName:
    """Readers with labels of their own."""

    @pytest.mark.parametrize(
        ("sources", "labels", "expected"),
        [
            ("b a", "S2 S1", {}),
            ("b a", "S1 S2", {"label_misattributed": ("a b", "S1 S2")}),
            ("a", "S1", {"label_unattached": ("b", "S2")}),
            ("a b", "[1] [2]", {"label_unattached": ("a b", "S1 S2")}),
            ("a b", "", {}),
            ("b a", "", {"label_misattributed": ("a b", "S1 S2")}),
        ],
    )
    def test_labels(self, sources: str, labels: str, expected: dict[str, tuple[str, str]]) -> None:
        """Labels resolve by name, whatever the order; an empty list of labels is not given."""
        assert about(PACKING, stage("reader", sources, labels=labels)) == expected

    def test_match(self) -> None:
        """A document attached for its chunk matches; another chunk of it does not."""
        packing = stage("packing", "doc#0", labels="S1")
        for attached, wrong in (("doc", False), ("Doc", False), ("doc#1", True), ("other", True), ("unknown", True)):
            assert bool(about(packing, stage("reader", attached), selected="doc", resolver=CHUNKS)) is wrong

    def test_a_document_that_is_its_own_chunk(self) -> None:
        """Its ID is both the object and a member, so it is equal to itself and matches."""
        packing = stage("packing", "a", labels="S1")
        assert about(packing, stage("reader", "a"), resolver=CHUNKS) == {}


class TestCitations:
    """What the answer cites."""

    def test_unresolved(self) -> None:
        """Labels that were not shown, each once, sorted; written otherwise they are other labels."""
        assert about(PACKING, cites("S9 S1 s1 S9 S2", "a b")) == {"citation_unresolved": ("", "S9 s1")}

    def test_without_sources(self) -> None:
        """A reader without returned IDs attaches nothing known: only its citations are checked."""
        assert about(PACKING, cites("S1 S3")) == {"citation_unresolved": ("", "S3")}

    def test_of_a_label_without_text(self) -> None:
        """The label of a document without text was not shown."""
        packing = stage("packing", "a b", labels="S1 S2", id_tokens=(5, 0))
        assert about(packing, cites("S2")) == {"citation_unresolved": ("", "S2")}

    def test_counts(self) -> None:
        """Citations are counted by what their label resolves to, repeats included."""
        packing = stage("packing", "a b c", labels="S1 S2 S3")
        counts = judge(packing, cites("S1 S1 S2 S3 S9", "a x")).citations
        assert counts == CitationCounts(resolved=2, misattributed=1, unattached=1, unresolved=1)

    def test_what_is_not_known_is_not_counted(self) -> None:
        """Without sources, or behind a cut, only unresolved citations are certain."""
        assert judge(PACKING, cites("S1 S9")).citations == CitationCounts(unresolved=1)
        assert judge(PACKING, cites("S1 S2", "a", count=5)).citations == CitationCounts(resolved=1)
        assert judge(stage("packing", "a"), cites("S1", "a")).citations == CitationCounts()
        unreadable = stage("packing", "- b", labels="S1 S2")
        assert judge(unreadable, cites("S1 S2", "a -")).citations == CitationCounts()


class TestWhereTheyRun:
    """The checks against a reader need all shown labels."""

    @pytest.mark.parametrize(
        "shown",
        [
            (stage("packing", "a b"),),
            (stage("packing", "a b", labels="S1 S2", count=3),),
            (stage("packing", "a b", labels="S1"),),
            (PACKING, stage("rescue", "c")),
            (stage("packing", "c"), stage("rescue", "a b", labels="S1 S2")),
            (PACKING, stage("rescue", None, labels="S3")),
            (PACKING, stage("rescue", "", count=1, labels="")),
            (stage("rerank", "a b", labels="S1 S2"),),
            (),
        ],
    )
    def test_not(self, shown: tuple[StageRecord, ...]) -> None:
        """Without usable labels, or with a cut or unreadable list among them, nothing is said against the reader."""
        assert READER_CHECKS.isdisjoint(about(*shown, cites("S9", "x y z")))

    @pytest.mark.parametrize(
        "silent",
        [
            stage("rescue", ""),
            stage("rescue", "c", id_tokens=(0,)),
            stage("rescue", "c", labels="S3 S4", id_tokens=(0,)),
        ],
    )
    def test_stages_that_show_nothing_do_not_matter(self, silent: StageRecord) -> None:
        """A stage that shows nothing needs no labels."""
        assert "citation_unresolved" in about(PACKING, silent, cites("S9"))

    def test_nothing_shown_at_all(self) -> None:
        """Where packing showed nothing every citation is unresolved."""
        assert about(stage("packing", ""), cites("S1")) == {"citation_unresolved": ("", "S1")}

    def test_a_reader_before_packing_ends(self) -> None:
        """The order of packing and reader does not matter: both are spans of one handoff."""
        assert about(cites("S9", "a b"), PACKING) == {"citation_unresolved": ("", "S9")}

    def test_several_readers(self) -> None:
        """Each reader is checked by itself."""
        result = judge(PACKING, cites("S9", name="one"), cites("S8", name="two"))
        assert [(each.name, each.labels) for each in result.findings] == [("one", ("S9",)), ("two", ("S8",))]


class TestRounds:
    """Labels belong to their round."""

    ONE = stage("packing", "a", labels="S1", round=1)
    TWO = stage("packing", "b", labels="S1", round=2)

    def test_own_round(self) -> None:
        """A reader of a round answers to that round's labels."""
        assert about(self.ONE, self.TWO, stage("reader", "a", round=1)) == {}
        assert about(self.ONE, self.TWO, stage("reader", "b", round=1)) == {"label_misattributed": ("a b", "S1")}

    def test_last_round(self) -> None:
        """A reader without a round, or of one that shows nothing, answers to the round whose shown stage ends last."""
        assert about(self.ONE, self.TWO, stage("reader", "b")) == {}
        assert about(self.ONE, self.TWO, stage("reader", "b", round=3)) == {}
        assert about(self.TWO, self.ONE, stage("reader", "a")) == {}
        assert about(self.TWO, self.ONE, stage("packing", "", round=3), stage("reader", "a", round=3)) == {}

    def test_a_round_that_shows_nothing_is_not_the_last(self) -> None:
        """An empty packing at the end is no shown stage: its reader answers to the round before."""
        empty = stage("packing", "", round=2)
        assert about(self.ONE, empty, stage("reader", "a", round=2)) == {}
        assert about(self.ONE, empty, cites("S1", "a")) == {}
        interleaved = stage("rescue", "", round=1)
        assert about(self.ONE, self.TWO, interleaved, stage("reader", "b")) == {}

    def test_one_round_is_not_taken_from_by_another(self) -> None:
        """A round without usable labels does not end the checks of the others."""
        bad = stage("packing", "x", round=2)
        assert about(self.ONE, bad, cites("S9", round=1)) == {"citation_unresolved": ("", "S9")}
        assert about(self.ONE, bad, cites("S9", round=2)) == {}

    def test_only_the_shown_list(self) -> None:
        """Where packing without a round shows, the rounds' own packings were not shown."""
        final = stage("packing", "c", labels="S1")
        assert about(self.ONE, self.TWO, final, stage("reader", "c", round=1)) == {}
        assert about(self.ONE, stage("rescue", "z", labels="S1", round=1), final) == {}
