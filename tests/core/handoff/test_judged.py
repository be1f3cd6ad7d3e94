"""What became of the judged objects, and of both targets together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.build import CHUNKS, judge, lost, stage


def losses(*stages: Any, **facts: Any) -> list[tuple[str, str | None, str]] | None:
    """Return each judged object that was lost, with the place and the cause."""
    found = judge(*stages, **{"selected": None, **facts}).judged_losses
    return None if found is None else [(each.id, each.drop.stage, each.drop.cause.value) for each in found]


def test_each_that_the_reader_was_not_shown() -> None:
    """Those that were shown are not among them; the order is that of the judgments, the ID the one that was judged."""
    stages = (stage("vector", "a b c"), stage("mmr", "a b"), stage("packing", "a c", id_tokens=(9, 0)))
    assert losses(*stages, judged="d c b a", grades=(1, 1, 2, 1)) == [
        ("d", None, "never_retrieved"),
        ("c", "packing", "no_text"),
        ("b", "packing", "over_budget"),
    ]
    found = losses(stage("packing", "other#0"), judged="doc#1 Doc other", resolver=CHUNKS)
    assert found == [("doc#1", None, "never_retrieved")]


def test_where_the_list_is_not_known() -> None:
    """A list that is cut or unreadable says of no object that it was lost; without judged objects none was."""
    assert losses(stage("packing", "a", count=2), judged="b") is None
    assert losses(stage("packing", None), judged="b") is None
    assert losses(stage("packing", "a")) == losses(stage("packing", "a"), judged="b", grades=(0,)) == []


@pytest.mark.parametrize(
    ("judged", "cutoff", "count", "joint"),
    [
        ("a", None, None, "both"),
        ("x", None, None, "selected_only"),
        ("b", 2, None, "both"),
        ("b", 1, None, "selected_only"),
        ("b", 1, 9, "selected_only"),
        ("x", None, 9, None),
        ("x", 3, 9, None),
        ("b", None, 9, "both"),
        (None, None, None, None),
    ],
)
def test_joint(judged: str | None, cutoff: int | None, count: int | None, joint: str | None) -> None:
    """Both targets count up to the cutoff; where a cut list leaves one open, so is the outcome."""
    assert judge(stage("packing", "a b", count=count), judged=judged, cutoff=cutoff).joint == joint
    if joint == "both":
        assert judge(stage("packing", "a b"), judged=judged, cutoff=cutoff, selected="z").joint == "judged_only"


def test_what_ran_within_the_stage_that_lost_it() -> None:
    """A stage that encloses the last one with the object was not handed it from outside: its kind says why."""
    before = stage("vector", "x", at=5)
    inner = stage("lexical", "a", at=10, parent_id="1")
    outer = stage("expansion", "x", given="x", at=20, span_id="1")
    assert lost(before, inner, outer, stage("packing", "x", at=30)) == ("expansion", "displaced")
