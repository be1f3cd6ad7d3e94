"""Blocks, wrappers and feeds of any handoff, against the contract's words."""

from __future__ import annotations

from hypothesis import given, settings

from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.arrangement import arrange
from tests.core.handoff.by_the_text import by_the_text
from tests.core.strategies import nested


@settings(max_examples=600)
@given(nested())
def test_arranged_as_the_contract_says(record: HandoffRecord) -> None:
    """Which stages are wrappers, and what feeds the others, is what the contract says word by word."""
    arranged, said = arrange(record), by_the_text(record)
    assert [stage.span_id for stage in arranged.stages] == [stage.record.span_id for stage in said.kept]
    at = [stage.place for stage in said.kept]

    def facts(places: tuple[int, ...], sources: tuple[int, ...]) -> tuple[set[int], set[int]]:
        return {at[place] for place in places}, {at[place] for place in sources}

    for place, fed in enumerate(arranged.feeds.of):
        expected = said.feeds[at[place]]
        assert facts(*fed) == ({one for one, _ in expected}, {one for one, source in expected if source})
        assert list(fed.places) == sorted(set(fed.places))
        assert all(feed < place for feed in fed.places)
    assert facts(*arranged.feeds.end)[0] == {one for one, _ in said.end}
