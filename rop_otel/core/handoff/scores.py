"""Scores of one ranked list against the judged objects and against the selected one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from rop_otel.core.handoff.assessment import Scores
from rop_otel.core.measures import ndcg, precision, recall, reciprocal_rank
from rop_otel.core.profile import Resolver

RECALL_KS: Final = (1, 3, 5, 10)
NDCG_KS: Final = (5, 10)
PRECISION_K: Final = 5
DEPTH: Final = 10
"""Ranks that the measures with a cutoff look at."""
RR: Final = "rr"
MEASURES: Final = {
    **{f"recall@{k}": ("recall", k) for k in RECALL_KS},
    RR: (RR, None),
    **{f"ndcg@{k}": ("ndcg", k) for k in NDCG_KS},
    f"precision@{PRECISION_K}": ("precision", PRECISION_K),
}
"""Every score's name, its measure and its cutoff."""
_KS: Final = {name: k for name, (_, k) in MEASURES.items() if k is not None}


class Judgments:
    """The judged objects of one handoff, ready to be asked about many lists.

    Args:
        judged: Judged IDs; empty strings are ignored, several IDs of one object count with the highest grade.
        grades: Aligned; a missing grade is 1, one below 1 is not relevant.
        resolver: None: an ID stands for itself.
    """

    __slots__ = ("grade_of", "ideal", "object_of")

    def __init__(self, judged: Sequence[str], *, grades: Sequence[int] = (), resolver: Resolver | None = None) -> None:
        self.grade_of: dict[str, int] = {}
        for place, raw in enumerate(judged):
            grade = grades[place] if place < len(grades) else 1
            if raw and grade > 0:
                name = raw if resolver is None else resolver.canonical(raw)
                self.grade_of[name] = max(grade, self.grade_of.get(name, 0))
        self.object_of: Mapping[str, str] = (
            {name: name for name in self.grade_of}
            if resolver is None
            else {raw: name for name in self.grade_of for raw in resolver.strings(name)}
        )
        self.ideal = tuple(sorted(self.grade_of.values(), reverse=True))

    def __bool__(self) -> bool:
        return bool(self.grade_of)

    def gains(self, ids: Sequence[str]) -> list[int]:
        """Return the grade at each rank, ending with the last relevant one: the first ID of an object scores."""
        object_of = self.object_of
        gains: list[int] = []
        seen: set[str] = set()
        for rank, raw in enumerate(ids):
            if raw in object_of:
                name = object_of[raw]
                if name not in seen:
                    seen.add(name)
                    gains.extend([0] * (rank - len(gains)))
                    gains.append(self.grade_of[name])
                    if len(seen) == len(self.ideal):
                        break
        return gains


def judged_scores(judgments: Judgments, ids: Sequence[str], *, held: AbstractSet[str], cut: bool) -> Scores:
    """Return the scores of a list against the judged objects, without those that a cut list cannot decide.

    Args:
        judgments: At least one relevant object.
        ids: Recorded IDs in rank order; may be empty.
        held: The same as a set.
        cut: Whether the true list is longer.
    """
    gains = [] if judgments.object_of.keys().isdisjoint(held) else judgments.gains(ids)
    scores = _NOTHING if not gains else _scores(gains, judgments.ideal)
    complete = len(gains) > 0 and sum(1 for gain in gains if gain) == len(judgments.ideal)
    return scores if not cut or complete else _decided(scores, depth=len(ids), found=bool(gains))


def selected_scores(rank: int | None, *, depth: int, cut: bool) -> Scores:
    """Return the scores of a list against the selected object, one relevant object at its rank.

    Args:
        rank: Rank of the selected object; None where the recorded list does not hold it.
        depth: Length of the recorded list.
        cut: Whether the true list is longer.
    """
    if rank is not None:
        return _selected(min(rank, DEPTH + 1)) | {RR: 1 / rank}
    return _decided(_NOTHING, depth=depth, found=False) if cut else _NOTHING


@cache
def _selected(rank: int) -> dict[str, float]:
    return _scores([0] * (rank - 1) + [1], (1,))


def _scores(gains: Sequence[int], ideal: Sequence[int]) -> dict[str, float]:
    scores = {f"recall@{k}": recall(gains, k=k, relevant=len(ideal)) for k in RECALL_KS}
    scores[RR] = reciprocal_rank(gains)
    for k in NDCG_KS:
        scores[f"ndcg@{k}"] = ndcg(gains, k=k, ideal=ideal)
    scores[f"precision@{PRECISION_K}"] = precision(gains, k=PRECISION_K)
    return scores


_NOTHING: Final = _scores([], (1,))


def _decided(scores: Scores, *, depth: int, found: bool) -> Scores:
    """Return the scores that the recorded part of a cut list decides: k IDs are recorded, or for rr a hit."""
    return {name: value for name, value in scores.items() if (found if name == RR else _KS[name] <= depth)}
