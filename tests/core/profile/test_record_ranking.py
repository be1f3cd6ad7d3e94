"""Ranks of plain records: the membership rule, laid out once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.membership import Membership, Rule
from rop_otel.core.profile.record_ranking import Ranking
from tests.core.profile.declared import RESOLVER, valid

RANKINGS: dict[Rule, Ranking] = {"any": Ranking(valid()), "all": Ranking(valid(rule="all"))}
KEYS = ("obj-a", "a#1", "/wiki/A", "obj-b", "b#0", "/wiki/B")


@pytest.mark.parametrize("rule", RANKINGS)
@pytest.mark.parametrize("key", KEYS)
@given(ids=st.lists(st.sampled_from(("a#0", "a#1", "/wiki/A", "b#0", "/wiki/B", "x")), max_size=5))
def test_it_is_the_membership_rule(rule: Rule, key: str, ids: list[str]) -> None:
    """Whatever name of an object is selected, rank and object are those of the rule; 0 stands for none."""
    ranking = RANKINGS[rule]
    group = ranking.groups[key]
    assert group is not None
    rank = Membership([key], rule=rule, resolver=RESOLVER).rank(ids)
    assert ranking.rank_in(group, ids) == (rank or 0)
    assert ranking.object_id(ids, rank or 0) == (RESOLVER.resolve(key) if rank else None)


def test_nobody_knows() -> None:
    """A key that no object owns asks for nothing."""
    assert RANKINGS["any"].groups["nobody"] is None
