"""One retrieval in several spans of others counts once."""

from __future__ import annotations

from typing import Any

import pytest

from rop_otel.core.handoff import StageRecord, Verdict, assess
from rop_otel.core.handoff.arrangement import arrange
from tests.core.build import handoff, stage


def retriever(number: int, returned: str | None, start: int, end: int, *, parent: int | None = None) -> StageRecord:
    """Return a foreign source."""
    return seen(number, "retriever", returned, start, end, parent=parent, source=True, foreign=True)


def seen(
    number: int, kind: str, returned: str | None, start: int, end: int, *, parent: int | None = None, **facts: Any
) -> StageRecord:
    """Return a stage with a time and a place among the others; its name is its number."""
    return stage(
        kind,
        returned,
        name=str(number),
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        start_ns=start,
        end_ns=end,
        **facts,
    )


def kept(*stages: StageRecord) -> list[str | None]:
    """Return the names of the stages that count."""
    return [each.name for each in arrange(handoff(*stages)).stages]


def test_an_inner_retriever_without_a_list() -> None:
    """Of an inner one of which no ID can be read the outer one tells all there is."""
    assert kept(retriever(1, "a b c", 1, 9), retriever(2, None, 2, 8, parent=1)) == ["1"]
    assert kept(retriever(1, "a", 1, 9), retriever(2, None, 2, 8, parent=1), retriever(3, None, 3, 7, parent=2)) == [
        "1"
    ]
    assert kept(retriever(1, None, 1, 9), retriever(2, None, 2, 8, parent=1)) == ["1"]


@pytest.mark.parametrize("inner", ["b a", "a", ""])
def test_a_retriever_within_a_retriever(inner: str) -> None:
    """The inner one feeds the outer one, as among stages of ours."""
    assert kept(retriever(1, "a b c", 1, 9), retriever(2, inner, 2, 8, parent=1)) == ["2", "1"]


def test_the_same_list_within() -> None:
    """However deep they nest, of several that return the same list the innermost counts."""
    assert kept(
        retriever(1, "a b", 1, 9), retriever(2, "a b", 2, 8, parent=1), retriever(3, "a b", 3, 7, parent=2)
    ) == ["3"]


def test_an_inner_retriever_that_found_more() -> None:
    """What only the inner one returned was lost at the outer one, which it feeds; alone, it feeds what follows."""
    inner, outer = retriever(2, "a b", 2, 8, parent=1), retriever(1, "b", 1, 9)
    before, after = retriever(3, "c", 0, 1), seen(4, "rerank", "b c", 10, 11)
    record = handoff(before, inner, outer, after)
    arranged = arrange(record)
    assert [each.name for each in arranged.stages] == ["3", "2", "1", "4"]
    assert [fed.places for fed in arranged.feeds.of] == [(), (), (1,), (0, 2)]
    found = assess(record)
    assert (found.verdict, found.dropped_at, found.drop and found.drop.name) == (Verdict.FAIL, "retriever", "1")


def test_an_outer_retriever_without_a_list() -> None:
    """What an outer retriever returned is not guessed from the inner one."""
    record = handoff(retriever(2, "a", 2, 8, parent=1), retriever(1, None, 1, 9))
    assert assess(record).verdict is Verdict.UNVERIFIABLE


def test_a_reranker_within_a_retriever() -> None:
    """A retriever that retrieves and reranks within is a wrapper: its parts count."""
    outer = retriever(1, "b a", 1, 9)
    parts = [
        retriever(2, "a b", 2, 4, parent=1),
        seen(3, "rerank", "b a", 5, 6, parent=1, foreign=True),
    ]
    assert kept(*parts, outer) == ["2", "3"]


@pytest.mark.parametrize("foreign", ["a b", "b", None])
def test_ours_wins_around(foreign: str | None) -> None:
    """A foreign retriever within a source of ours, or within fusion of ours, is left out."""
    assert kept(seen(1, "vector", "a b", 1, 9), retriever(2, foreign, 2, 8, parent=1)) == ["1"]
    assert kept(seen(1, "fusion", "a b", 1, 9), retriever(2, foreign, 2, 8, parent=1)) == ["1"]


@pytest.mark.parametrize("foreign", ["a b", None])
def test_ours_wins_within_and_beside(foreign: str | None) -> None:
    """A foreign retriever around a source of ours, or beside it at the time, that tells no more is left out."""
    assert kept(retriever(1, foreign, 1, 9), seen(2, "vector", "a b", 2, 8, parent=1)) == ["2"]
    assert kept(retriever(1, foreign, 1, 9), seen(2, "vector", "a b", 2, 8)) == ["2"]
    assert kept(retriever(1, foreign, 2, 8), seen(2, "vector", "a b", 1, 9)) == ["2"]


def test_ours_does_not_win_over_another_retrieval() -> None:
    """A foreign retriever at another time, or with another list, is another retrieval."""
    assert kept(seen(1, "vector", "a b", 1, 2), retriever(2, "a b", 3, 4)) == ["1", "2"]
    assert kept(seen(1, "vector", "a b", 1, 9), retriever(2, "a c", 3, 4)) == ["2", "1"]


def test_a_stage_of_ours_around_a_pipeline_of_others() -> None:
    """A custom stage of ours that is no source does not hide what runs within it."""
    parts = [
        retriever(2, "a b", 2, 4, parent=1),
        seen(3, "rerank", "b", 5, 6, parent=1, foreign=True),
    ]
    assert kept(*parts, seen(1, "pipeline", "b", 1, 9)) == ["2", "3"]
    assert kept(*parts, seen(1, "pipeline", "", 1, 9)) == ["2", "3", "1"]


def test_two_instrumentations_of_one_reranker() -> None:
    """A reranker that ours and others watch counts once, as ours."""
    assert kept(seen(1, "rerank", "a", 1, 9), seen(2, "rerank", "a b", 2, 8, parent=1, foreign=True)) == ["1"]
