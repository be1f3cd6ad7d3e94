from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rop_otel as rop
from rop_otel.tracing.handoffs.citing import find_citations
from tests.tracing.watched import Watched

S = ["S1", "S2", "S3"]


@pytest.mark.parametrize(
    ("text", "shown", "cited"),
    [
        ("It waits [S1].", S, ("S1",)),
        ("It waits[S1] and raises [S2, S3]; see [S1][S9].", S, ("S1", "S2", "S3", "S1", "S9")),
        ("[S1; S2] [ S3 ] [S1 and S2] [S1 S3]", S, ("S1", "S2", "S3", "S1", "S2", "S1", "S3")),
        ("Take array[2] of the list [1, 2].", S, ()),
        ("Write `x[S1]` or ``y[S2]``, as in [S3].", S, ("S3",)),
        ("Before [S1]\n```python\nrow[S2]\n```\nafter [S3].", S, ("S1", "S3")),
        ("~~~\n[S1]\n~~~\n[S2]", S, ("S2",)),
        ("An open fence\n```\n[S1] for ever", S, ()),
        ("A lone ` and [S1].", S, ("S1",)),
        ("See [S1](#s1), [the docs](x), [S1-S3] and [].", S, ("S1",)),
        ("No label is [s1].", S, ()),
        ("Numbers [1] and [2, 3], but not array[2], f(x)[3] or _[1].", ["1", "2"], ("1", "2", "3")),
        ("Words [Source 1] and [Source 12].", ["Source 1", "Source 2"], ("Source 1", "Source 12")),
        ("Names [intro], [intro, S1] and [other].", ["intro", "S1"], ("intro", "intro", "S1")),
        ("With brackets [S1] [S7].", ["[S1]", "[S2]"], ("[S1]", "[S7]")),
        ("Nothing shown [S4], [4].", [], ("S4",)),
        ("[Source 1], [Sources 2, 3], [doc 4] and 【5】, but not (6) or Source 7.", ["1", "2"], tuple("12345")),
        ("So it is (1), as in (2, 9), but not [3], (see 4) or f(5).", ["(1)", "(2)"], ("(1)", "(2)", "(9)")),
        ("So it is【1】and 【9】, not [2].", ["【1】", "【2】"], ("【1】", "【9】")),
        ("So it is [^1][^9], not [2].", ["^1", "^2"], ("^1", "^9")),
        (
            "So it is [citation:zzz], [citation:a], not [a].",
            ["citation:a", "citation:b"],
            ("citation:zzz", "citation:a"),
        ),
        ("[doc#9] [other#9] [doc]", ["doc#1"], ("doc#9",)),
        ("[doc1] [doc99] [dox1]", ["doc1", "doc2"], ("doc1", "doc99")),
        ("", S, ()),
        ("[" * 1000 + "S1" + "]" * 1000, S, ("S1",)),
    ],
)
def test_what_is_cited(text: str, shown: list[str], cited: tuple[str, ...]) -> None:
    """A citation is a label in brackets that looks like those shown; code and indices are none."""
    assert find_citations(text, shown=shown) == cited


@pytest.mark.parametrize(
    ("pattern", "text", "cited"),
    [
        (r"\(see (S\d+(?:, S\d+)*)\)", "It waits (see S1, S2) [S3].", ("S1", "S2")),
        (r"S\d+", "S1 says so, `S2` does not.", ("S1",)),
        (r"(x)?【(\d+)】", "【1】", ()),
    ],
)
def test_grammar_can_be_configured(pattern: str, text: str, cited: tuple[str, ...]) -> None:
    """A pattern replaces the brackets: its first group holds the labels, or all that it matches."""
    assert find_citations(text, shown=S, pattern=re.compile(pattern)) == cited


@given(st.text(alphabet="[]`~S12 ,\n"), st.lists(st.text(alphabet="[]S1 ", min_size=1), max_size=3))
def test_finding_citations_never_raises(text: str, shown: list[str]) -> None:
    """Whatever an answer looks like, citations are non-empty labels."""
    assert all(find_citations(text, shown=shown))


def shown_and_attached(shown: list[str], sources: list[str], text: str) -> rop.Assessment:
    with rop.handoff("qa") as handoff:
        with rop.using_stage("packing") as stage:
            stage.returned(shown, labels=[f"S{place}" for place, _ in enumerate(shown, 1)])
        handoff.answered(text, sources=sources)
    return handoff.assessment


def test_sources_in_another_order_are_caught(watched: Watched) -> None:
    """Shown A C D B, attached A B: [S2] stands for another chunk, [S3] and [S4] for none."""
    assessment = shown_and_attached(["A", "C", "D", "B"], ["A", "B"], "One [S1], two [S2], three [S3].")
    found = {finding.code.value: finding for finding in assessment.findings}
    assert found["label_misattributed"].labels == ("S2",)
    assert found["label_misattributed"].ids == ("B", "C")
    assert found["label_unattached"].labels == ("S3", "S4")
    assert watched.stage("reader").citations == ("S1", "S2", "S3")


def test_citation_of_a_label_that_nobody_saw_is_caught(watched: Watched) -> None:
    """The grammar is that of the labels shown, with any number: a label beyond them is unresolved."""
    assessment = shown_and_attached(["A"], ["A"], "It waits [S1] [S2], see array[2] and `x[S3]`.")
    (finding,) = assessment.findings
    assert (finding.code, finding.labels) == ("citation_unresolved", ("S2",))


def test_labels_belong_to_their_turn(watched: Watched) -> None:
    """The second turn's [S1] is resolved among the second turn's labels only."""
    with rop.handoff("chat") as handoff:
        for turn, document in enumerate(["A", "B"], 1):
            with rop.using_round(turn):
                with rop.using_stage("packing") as stage:
                    stage.returned([document], labels=["S1"])
                handoff.answered("It waits [S1].", sources=[document])
    assert handoff.assessment.findings == ()
    assert handoff.assessment.citations.resolved == 2


def test_citations_may_be_given(watched: Watched) -> None:
    """An answer that carries its citations apart from its text needs no text."""
    with rop.handoff("qa") as handoff:
        handoff.answered("", sources=["a"], labels=["S1"], citations=["S1", 2, "S1"])  # type: ignore[list-item]
    reader = watched.stage("reader")
    assert (reader.returned, reader.labels, reader.citations) == (("a",), ("S1",), ("S1", "2", "S1"))


@pytest.mark.parametrize("text", [None, 3, b"[S1]"])
def test_answer_that_is_no_text_is_counted(text: Any, watched: Watched) -> None:
    """An answer that is no text cites nothing, and is a mishap."""
    with rop.handoff("qa") as handoff:
        handoff.answered(text, sources=["a"])
    assert watched.stage("reader").citations == ()
    assert watched.errors("answer") == 1


def test_unknown_sources_are_not_an_empty_list(watched: Watched) -> None:
    """Without sources nothing is known of what the response attaches."""
    with rop.handoff("qa") as handoff:
        handoff.answered("It waits [S1].")
    assert watched.stage("reader").returned is None
    assert watched.errors("ids") == 0


def test_text_is_never_recorded(watched: Watched) -> None:
    """Neither the question, the documents nor the answer are on any span."""

    @rop.stage("vector", id=lambda text: text[:1])
    def search(question: str) -> list[str]:
        return ["a secret text"]

    with rop.handoff("qa") as handoff:
        search("a secret question")
        handoff.answered("a secret answer [S1]", sources=["a"])
    assert "secret" not in repr([(span.name, dict(span.attributes or {}), span.events) for span in watched.spans])
