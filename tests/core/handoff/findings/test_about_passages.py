"""Findings about what was shown of the documents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.build import CHUNKS, codes, found, judge, stage, the


def thin(*stages: Any, **facts: Any) -> list[str]:
    """Return the IDs of thin passages, stage by stage."""
    return [" ".join(finding.ids) for finding in found(judge(*stages, **facts), "thin_passage")]


def cut(*stages: Any, **facts: Any) -> list[str]:
    """Return the IDs of passages that were shown in part, stage by stage."""
    return [" ".join(finding.ids) for finding in found(judge(*stages, **facts), "passage_cut")]


class TestThin:
    """A few tokens of what matters."""

    @pytest.mark.parametrize(("tokens", "least", "ids"), [(7, None, ["a"]), (8, None, []), (2, 2, []), (1, 2, ["a"])])
    def test_fewer_than_asked_for(self, tokens: int, least: int | None, ids: list[str]) -> None:
        """Fewer than eight tokens, or than the handoff says, are thin; no token at all is no text."""
        assert thin(stage("packing", "a b", id_tokens=(tokens, 1)), min_tokens=least) == ids
        assert thin(stage("packing", "a", id_tokens=(0,)), min_tokens=least) == []

    def test_over_all_ids_of_the_object(self) -> None:
        """The tokens of an object's chunks are added up; the finding names those with text."""
        packed = stage("packing", "doc#0 doc#1 other#0", id_tokens=(4, 3, 1))
        assert thin(packed, selected="doc", judged="other", resolver=CHUNKS) == ["doc#0 doc#1 other#0"]
        assert thin(packed, selected="doc", resolver=CHUNKS) == ["doc#0 doc#1"]
        assert thin(stage("packing", "doc#0 doc#1", id_tokens=(4, 4)), selected="doc", resolver=CHUNKS) == []
        assert thin(packed, selected="doc#0") == ["doc#0"]

    @pytest.mark.parametrize(
        ("other", "ids"),
        [
            (stage("rescue", "a", id_tokens=(9,)), []),
            (stage("rescue", "a", id_tokens=(3,)), ["a", "a"]),
            (stage("rescue", "a", id_tokens=(2,)), ["a"]),
            (stage("rescue", "a"), []),
            (stage("rescue", "b"), ["a"]),
            (stage("rescue", "b", id_tokens=(9,), count=3), []),
            (stage("mmr", "a"), ["a"]),
        ],
        ids=["more", "as much", "less", "not known", "of another", "cut", "not shown"],
    )
    def test_unless_another_shows_more(self, other: Any, ids: list[str]) -> None:
        """It is thin where no other shown list has, or may have, more of it."""
        assert thin(stage("packing", "a", id_tokens=(3,)), other) == ids

    def test_only_what_matters(self) -> None:
        """Passages that are neither selected nor judged may be short, and a selection that is not usable is none."""
        packed = stage("packing", "a b", id_tokens=(1, 1))
        assert thin(packed, selected=None, judged="b", grades=(0,)) == []
        assert thin(packed, rule="most", judged="b") == ["b"]


class TestCut:
    """A part of what matters."""

    @pytest.mark.parametrize(("share", "ids"), [(0.0, []), (0.01, ["a"]), (0.94, ["a"]), (0.95, []), (1.0, [])])
    def test_less_than_the_whole(self, share: float, ids: list[str]) -> None:
        """A share above 0 and below 0.95 is a part."""
        assert cut(stage("packing", "a b", shares=(share, 0.1))) == ids

    def test_the_largest_share_counts(self) -> None:
        """One chunk that is whole is enough, here or in another list."""
        facts: dict[str, Any] = {"selected": "doc", "resolver": CHUNKS}
        assert cut(stage("packing", "doc#0 doc#1", shares=(0.2, 1.0)), **facts) == []
        assert cut(stage("packing", "doc#0 doc#1", shares=(0.2, 0.3)), **facts) == ["doc#0 doc#1"]
        assert cut(stage("packing", "doc#0", shares=(0.2,)), stage("rescue", "doc#1", shares=(1.0,)), **facts) == []
        assert cut(stage("packing", "doc#0", shares=(0.2,)), stage("rescue", "doc#1"), **facts) == []


class TestUnseen:
    """A prompt that holds no text of any document."""

    def test_it_is_an_error(self) -> None:
        """The prompt was seen without the documents: an error, and nothing is known to be shown."""
        result = judge(stage("vector", "a"), stage("packing", "a", basis="unseen", id_tokens=(1,)))
        assert (codes(result), result.verdict) == ([("context_not_in_prompt", "packing")], "UNVERIFIABLE")
        assert the(result, "context_not_in_prompt").severity == "error"

    def test_no_label_is_shown(self) -> None:
        """Labels of such a list are not checked against the response: nobody was shown them."""
        packed = stage("packing", "a b", labels="S1 S1", basis="unseen")
        assert codes(judge(packed, stage("reader", "", citations=("S7",)))) == [("context_not_in_prompt", "packing")]

    def test_any_other_word_means_recorded(self) -> None:
        """A word that the contract does not know says nothing against a list."""
        assert judge(stage("packing", "a", basis="guessed")).shown.basis == "recorded"
