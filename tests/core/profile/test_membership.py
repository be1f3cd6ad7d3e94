"""The membership rule and its rank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile import Membership
from rop_otel.core.profile.membership import Rule
from tests.core.build import CHUNKS, words


@pytest.mark.parametrize(
    ("selected", "rule", "ids", "rank"),
    [
        ("doc", "any", "x doc#1 doc#0", 2),
        ("doc", "any", "Doc", 1),
        ("doc", "any", "x - y", None),
        ("doc", "any", "", None),
        ("doc other", "any", "x other#0 doc#0", 2),
        ("doc", "all", "doc#0 x doc#0 doc#1", 4),
        ("doc", "all", "doc#1 doc#0", 2),
        ("doc", "all", "doc#0 doc Doc", None),
        ("doc other", "all", "doc#0 other#0 doc#1", 2),
        ("a", "all", "x a", 2),
    ],
)
def test_rank(selected: str, rule: Rule, ids: str, rank: int | None) -> None:
    """The rank is the length of the shortest prefix on which the rule holds; unknown and repeated IDs use up slots."""
    membership = Membership(words(selected), rule=rule, resolver=CHUNKS)
    assert membership.rank(words(ids)) == rank
    assert membership.holds(frozenset(words(ids))) is (rank is not None)


@pytest.mark.parametrize("rule", ["any", "all"])
def test_without_a_resolver_an_id_stands_for_itself(rule: Rule) -> None:
    """Any one of the selected IDs will do, under either rule."""
    membership = Membership(["doc", "other"], rule=rule, resolver=None)
    assert [membership.rank(words(ids)) for ids in ("x other doc", "doc#0 Doc", "")] == [2, None, None]


@given(
    st.lists(st.sampled_from(("doc#0", "doc#1", "doc", "Doc", "other", "other#0", "x", "")), max_size=10),
    st.lists(st.sampled_from(("doc", "doc#1", "other")), min_size=1, max_size=3),
    st.sampled_from(("any", "all")),
)
def test_the_shortest_prefix(ids: list[str], selected: list[str], rule: Rule) -> None:
    """The rank is where the rule begins to hold on prefixes, and from there on it holds."""
    membership = Membership(selected, rule=rule, resolver=CHUNKS)
    holds = [membership.holds(frozenset(ids[:length])) for length in range(len(ids) + 1)]
    assert holds == sorted(holds)
    assert membership.rank(ids) == (holds.index(True) if True in holds else None)
