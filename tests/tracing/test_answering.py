"""The sources of an answer, read as the stages read the same documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import rop_otel as rop
from rop_otel import instrumenting
from tests.tracing.watched import Watched


@dataclass(frozen=True)
class Row:
    """A document with an ID of its row, and one that the application means."""

    id: int
    metadata: dict[str, str]


ROWS = [Row(901, {"key": "queues"}), Row(377, {"key": "timeouts"})]
DICTS = [{"id": 901, "key": "queues"}, {"id": 377, "key": "timeouts"}]
PAIRS = [(row, 0.5) for row in ROWS]
WHERE: list[tuple[Any, list[Any]]] = [
    ("key", DICTS),
    ("metadata.key", ROWS),
    ("metadata.key", PAIRS),
    (lambda row: row.metadata["key"], ROWS),
    (instrumenting.Settings(id_keys=("key",)).id, ROWS),
    ({901: "queues", 377: "timeouts"}, [901, 377]),
]


def block(where: Any, hits: list[Any]) -> None:
    with rop.using_stage("vector", id=where) as stage:
        stage.returned(hits)
    with rop.using_stage("packing", id=where) as stage:
        stage.returned(hits, labels=["1", "2"])


def decorated(where: Any, hits: list[Any]) -> None:
    @rop.stage("vector", id=where)
    def search() -> list[Any]:
        return hits

    search()
    with rop.using_stage("packing") as stage:
        stage.returned(["queues", "timeouts"], labels=["1", "2"])


def yielded(where: Any, hits: list[Any]) -> None:
    @rop.stage("vector", id=where)
    def search() -> Iterator[Any]:
        yield from hits

    found = list(search())
    with rop.using_stage("packing", id=where) as stage:
        stage.returned(found, labels=["1", "2"])


@pytest.mark.parametrize("settings", [{}, {"hash_key": b"key"}, {"max_ids": 2}], ids=str)
@pytest.mark.parametrize("pipeline", [block, decorated, yielded])
@pytest.mark.parametrize(("where", "hits"), WHERE)
def test_right_citations_are_right(
    watch: Callable[..., Watched],
    settings: dict[str, Any],
    pipeline: Callable[[Any, list[Any]], None],
    where: Any,
    hits: list[Any],
) -> None:
    """A response that attaches what was shown has no wrong citation, wherever the stages were told to find the IDs."""
    watch(**settings)
    with rop.handoff("qa", selected="queues") as handoff:
        pipeline(where, hits)
        handoff.answered("Use queues [1] or timeouts [2].", sources=hits)
    citations = handoff.assessment.citations
    assert (citations.resolved, citations.misattributed, citations.unattached) == (2, 0, 0)
    assert handoff.assessment.findings == ()


@pytest.mark.parametrize(("where", "hits"), WHERE)
def test_wrong_citations_are_wrong(watch: Callable[..., Watched], where: Any, hits: list[Any]) -> None:
    """Sources in another order misattribute, read in the same way."""
    watched = watch()
    with rop.handoff("qa") as handoff:
        block(where, hits)
        handoff.answered("Use queues [1] or timeouts [2].", sources=hits[::-1])
    assert handoff.assessment.citations.misattributed == 2
    assert watched.stage("reader").returned == ("timeouts", "queues")


def test_the_latest_way_counts(watched: Watched) -> None:
    """Where two stages read the same documents in two ways, the later one says what was shown."""
    with rop.handoff("qa") as handoff:
        with rop.using_stage("vector", id="key") as stage:
            stage.returned(DICTS)
        with rop.using_stage("packing", id="id") as stage:
            stage.returned(DICTS, labels=["1", "2"])
        handoff.answered("So it is [1].", sources=DICTS)
    assert watched.stage("reader").returned == ("901", "377")


def test_id_says_where(watched: Watched) -> None:
    """What the application says of its sources counts before anything that the stages were told."""
    with rop.handoff("qa") as handoff:
        block("id", DICTS)
        handoff.answered("So it is [1].", sources=DICTS, id="key")
    assert watched.stage("reader").returned == ("queues", "timeouts")


def test_a_wrong_place_is_logged(watched: Watched) -> None:
    """An ``id`` that is no place of an ID breaks nothing, and the sources are read without it."""
    with rop.handoff("qa") as handoff:
        block("key", DICTS)
        handoff.answered("So it is [1].", sources=DICTS, id=3.5)  # type: ignore[arg-type]
    assert watched.stage("reader").returned == ("queues", "timeouts")
    assert watched.errors("answer") == 1


def test_an_answer_without_stages(watched: Watched) -> None:
    """Where no stage was told anything, the usual places are looked at."""
    with rop.handoff("qa") as handoff:
        handoff.answered("So it is.", sources=DICTS, attaches="cited", abstained=True)
    reader = watched.stage("reader")
    assert (reader.returned, reader.attaches, reader.abstained) == (("901", "377"), "cited", True)


@pytest.mark.parametrize("told", [{"attaches": "all"}, {"attaches": 3}, {"abstained": "no"}, {"abstained": 1}], ids=str)
def test_what_an_answer_cannot_say_is_left_out(watched: Watched, told: dict[str, Any]) -> None:
    """A value that is none of the contract's is counted, and left out."""
    with rop.handoff("qa") as handoff:
        handoff.answered("So it is.", **told)
    reader = watched.stage("reader")
    assert (reader.attaches, reader.abstained) == (None, None)
    assert watched.errors("stage") == 1
