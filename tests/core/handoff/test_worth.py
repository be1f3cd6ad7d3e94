"""What each source brought of what the reader was shown."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from rop_otel.core.handoff import Assessment, HandoffRecord, assess
from rop_otel.core.handoff import kinds as k
from rop_otel.core.handoff.stage_graph import StageGraph
from tests.core.build import judge, stage
from tests.core.strategies import handoffs, nested


def worth(assessment: Assessment) -> dict[str, tuple[int, int]]:
    """Return how many shown IDs each source returned, and how many of them alone."""
    return {each.name or each.stage: (each.shown, each.only) for each in assessment.sources}


def by_the_text(graph: StageGraph) -> dict[tuple[str, str | None], tuple[int, int]]:
    """Return the same word by word, as slow as that is."""
    standing = {place for run in graph.parallel for place in run if not graph.feeds[place].places}
    places = [place for place, each in enumerate(graph.stages) if k.is_source(each) or place in standing]
    arms: dict[Any, list[int]] = defaultdict(list)
    for place in places:
        arms[graph.stages[place].kind, graph.stages[place].name].append(place)

    def is_other(place: int, own: list[int]) -> bool:
        return place not in own and not any(graph.encloses(place, each) or graph.encloses(each, place) for each in own)

    found = {}
    for arm, members in arms.items():
        shown = only = 0
        for raw in {raw for raw in graph.shown.known_ids if raw}:
            returned = [place for place in places if raw in (graph.stages[place].returned or ())]
            own = [place for place in returned if place in members]
            shown += bool(own)
            only += bool(own) and not any(is_other(place, own) for place in returned)
        found[arm] = shown, only
    return found if graph.shown.usable else {}


def test_two_arms() -> None:
    """Each arm has what it returned of what was shown, and what nobody else returned; repeated IDs count once."""
    stages = (
        stage("vector", "a b c"),
        stage("lexical", "c d a a"),
        stage("fusion", "a b c d"),
        stage("packing", "d c b b"),
    )
    assert worth(judge(*stages)) == {"vector": (2, 1), "lexical": (2, 1)}


def test_a_source_that_ran_twice_is_one() -> None:
    """What an arm returned in several rounds is no other source's."""
    stages = (stage("vector", "a b", round=1), stage("vector", "a", round=2), stage("packing", "a"))
    assert worth(judge(*stages)) == {"vector": (1, 1)}


def test_names_are_sources_of_their_own() -> None:
    """Two retrievers of one kind are two sources."""
    stages = (stage("vector", "a b", name="title"), stage("vector", "a c", name="body"), stage("packing", "a b"))
    assert worth(judge(*stages)) == {"title": (2, 1), "body": (1, 0)}


def test_nothing_is_known_of_a_list_that_is_not_usable() -> None:
    """Where nobody knows what was shown, no source is said to have brought nothing."""
    assert judge(stage("vector", "a"), stage("packing", None)).sources == ()


def test_a_source_that_brought_nothing_is_there() -> None:
    """An arm of which nothing is shown, or whose list cannot be read, has brought nothing."""
    assert worth(judge(stage("vector", None), stage("lexical", "x"), stage("packing", "a"))) == {
        "vector": (0, 0),
        "lexical": (0, 0),
    }


def test_what_is_around_a_source_is_no_other() -> None:
    """A hybrid retriever and the arms inside it returned the same; the arms are others to each other."""
    stages = (
        stage("vector", "a b", span_id="v", parent_id="h", start_ns=1, end_ns=2),
        stage("lexical", "b c", span_id="l", parent_id="h", start_ns=3, end_ns=4),
        stage("hybrid", "a b c x", source=True, span_id="h", start_ns=0, end_ns=5),
        stage("packing", "a b c x", span_id="p", start_ns=6, end_ns=7),
    )
    assert worth(judge(*stages)) == {"vector": (2, 1), "lexical": (2, 1), "hybrid": (4, 4)}


@settings(max_examples=300)
@given(handoffs() | nested())
def test_as_the_contract_says(record: HandoffRecord) -> None:
    """The counts are those of the contract's words, however sources enclose each other."""
    counts = {(each.stage, each.name): (each.shown, each.only) for each in assess(record).sources}
    assert counts == by_the_text(StageGraph(record, None))


@given(handoffs())
def test_an_unknown_source_changes_nothing(record: HandoffRecord) -> None:
    """A source that returned nothing takes nothing from the others."""
    empty = stage("lexical", "", name="empty", span_id="none", start_ns=0, end_ns=1)
    with_it = assess(replace(record, stages=(*record.stages, empty)))
    without = assess(record)
    if with_it.shown == without.shown:
        assert [each for each in with_it.sources if each.name != "empty"] == list(without.sources)
