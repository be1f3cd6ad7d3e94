"""A reranker's own score, beside one that the documents had before."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import rop_otel as rop
from tests.tracing.watched import Watched

OWN = ["relevance_score", "rerank_score", "reranker_score"]
INHERITED = ["score", "similarity", "_score"]


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("inherited", INHERITED)
@pytest.mark.parametrize(
    "document",
    [
        lambda scores: {"id": "a", **scores},
        lambda scores: {"id": "a", "metadata": scores},
        lambda scores: {"id": "a", "meta": scores},
        lambda scores: SimpleNamespace(id="a", **scores),
        lambda scores: SimpleNamespace(id="a", metadata=scores),
        lambda scores: SimpleNamespace(id="a", score=0.2, metadata=scores),
    ],
)
def test_a_rerankers_own_score_goes_first(
    watched: Watched, document: Callable[[dict[str, float]], Any], inherited: str, own: str
) -> None:
    """What a reranker returns has its score, and not the one that a document brought from its retrieval."""
    found = [document({inherited: 0.2, own: 0.9})]
    with rop.handoff("qa"):
        for kind in ("vector", "rerank"):
            with rop.using_stage(kind) as stage:
                stage.returned(found)
        with rop.using_stage("rerank", name="named", score=lambda _: 0.7) as stage:
            stage.returned(found)
        with rop.using_stage("rerank", name="pairs") as stage:
            stage.returned([(found[0], 0.8)])
    assert [stage.scores for stage in watched.stages()][1:] == [(0.9,), (0.7,), (0.8,)]


def test_each_list_says_whose_score_it_has(watched: Watched) -> None:
    """A reranker that falls back to the scores of the retrieval, and comes back, is read right each time."""
    inherited, own = {"id": "a", "score": 0.2}, {"id": "a", "score": 0.2, "relevance_score": 0.9}

    @rop.stage("rerank")
    def rerank(found: list[Any]) -> list[Any]:
        return found

    with rop.handoff("qa"):
        for found in ([inherited], [own, own], [inherited, inherited], [own], [{"id": "a", "rerank_score": 0.5}]):
            rerank(found)
    scores = [stage.scores for stage in watched.stages()]
    assert scores == [(0.2,), (0.9, 0.9), (0.2, 0.2), (0.9,), (0.5,)]
