"""The counts of a run: several records counted at once are counted as they are one by one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.joint import Comparison
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.outcome_counts import RunCounts
from tests.core.profile.declared import opened

DECLARATIONS: dict[str, Opened] = {
    "hard": opened(),
    "deep": opened(depth=3),
    "traced": opened(trace_field="gold"),
    "soft": opened(mode="soft"),
    "open": opened(mode="open", population=None),
}
TRACED = ("obj-a", ["obj-b", "nobody"], "b#0", None)
RETURNED = (["a#0"], ["x", "x", "a#1"], ["x", "x", "x", "a#0"], ["b#0"])
RANKS = (1, 3, 4, 0)


@pytest.mark.parametrize("mode", DECLARATIONS)
@given(blocks=st.lists(st.lists(st.tuples(st.sampled_from(("r1", "r2", "r3", "r9")), st.integers(0, 3))), max_size=3))
def test_at_once_or_one_by_one(mode: str, blocks: list[list[tuple[str, int]]]) -> None:
    """Blocks of record IDs and ranks give the accounts of the observations that they stand for."""
    valid = DECLARATIONS[mode].declaration
    assert valid is not None
    comparison = Comparison(valid.resolver)
    one, many = RunCounts(DECLARATIONS[mode]), RunCounts(DECLARATIONS[mode])
    for block in blocks:
        for record_id, kind in block:
            one.observe(
                Observation(record_id=record_id, selection="obj-a", returned=RETURNED[kind], traced=TRACED[kind])
            )
        ranks = [RANKS[kind] for _, kind in block]
        compared = [comparison.compare(["obj-a"], TRACED[kind], RETURNED[kind], rank=RANKS[kind]) for _, kind in block]
        many.add_judged(
            ranks,
            nonmatch=ranks.count(0) if one.terms.depth else 0,
            compared=compared if one.comparison is not None else (),
        )
        many.place(*(record_id for record_id, _ in block))
    expected, found = one.accounts(), many.accounts()
    assert (found.missing, found.duplicates, found.unexpected) == (
        expected.missing,
        expected.duplicates,
        expected.unexpected,
    )
    seen = Counter(record_id for block in blocks for record_id, _ in block)
    if valid.population is not None:
        assert set(found.missing) == set(valid.population) - set(seen)
        assert set(found.unexpected) == set(seen) - set(valid.population)
        assert set(found.duplicates) == {record_id for record_id, times in seen.items() if times > 1}
    assert found.counts.observed == expected.counts.observed
    assert found.counts.ranks == expected.counts.ranks
    assert (found.counts.nonmatch, found.counts.joint) == (expected.counts.nonmatch, expected.counts.joint)
    for counted, each in (
        (found.counts.verdicts, expected.counts.verdicts),
        (found.counts.judged, expected.counts.judged),
    ):
        assert {verdict: count for verdict, count in counted.items() if count} == each
