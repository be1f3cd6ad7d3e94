"""Scores of one ranked list against the judged objects and against the selected one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from rop_otel.core.handoff.assessment import Scores
from rop_otel.core.measures.every import MEASURES
from rop_otel.core.measures.measure import Ranked
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.membership import first_of

SCORES: Final = {measure.at(k): (measure, k) for measure in MEASURES for k in measure.ks}
"""Every score's name, its measure and its cutoff, 0 where it has none."""
DEPTH: Final = max(k for _, k in SCORES.values())
"""Ranks that the measures with a cutoff look at."""
HIGHEST_GRADE: Final = 2**53
"""A float does not distinguish higher grades; sums of far higher ones overflow."""
Hits = tuple[tuple[int, int], ...]
"""Ranks that score, with the grade at each."""


class Judgments:
    """The judged objects of one handoff, prepared for scoring many lists.

    Args:
        judged: Judged IDs; empty strings are ignored, several IDs of one object count with the highest grade.
        grades: Aligned; a missing grade is 1, one below 1 is not relevant.
        resolver: None: an ID stands for itself.

    Attributes:
        first_raws: The relevant objects in the order of the judgments, with the first ID that makes each relevant.
        object_of: The relevant object of each ID of one.
        raws: All of these IDs.
        ideal: The highest grades in descending order, as many as a cutoff looks at.
        relevant: How many relevant objects there are.
    """

    __slots__ = ("_grade_of", "first_raws", "ideal", "object_of", "raws", "relevant")

    def __init__(self, judged: Sequence[str], *, grades: Sequence[int] = (), resolver: Resolver | None = None) -> None:
        objects: dict[str, int] = {}
        self.first_raws: dict[str, str] = {}
        for place, raw in enumerate(judged):
            grade = grades[place] if place < len(grades) else 1
            if raw and grade > 0:
                name = raw if resolver is None else resolver.canonical(raw)
                self.first_raws.setdefault(name, raw)
                objects[name] = max(min(grade, HIGHEST_GRADE), objects.get(name, 0))
        self.object_of: Mapping[str, str] = (
            {name: name for name in objects}
            if resolver is None
            else {raw: name for name in objects for raw in resolver.strings(name)}
        )
        self._grade_of = objects
        self.raws = frozenset(self.object_of)
        self.ideal = tuple(sorted(objects.values(), reverse=True)[:DEPTH])
        self.relevant = len(objects)

    def __bool__(self) -> bool:
        return bool(self.relevant)

    def hits(self, ids: Sequence[str], found: AbstractSet[str]) -> Hits:
        """Return rank and grade of the first ID of each relevant object, within the ranks that have a cutoff.

        Args:
            ids: In rank order.
            found: The relevant ones among them.
        """
        hits: list[tuple[int, int]] = []
        seen: set[str] = set()
        for rank, raw in enumerate(ids[:DEPTH], 1):
            if raw in found:
                name = self.object_of[raw]
                if name not in seen:
                    seen.add(name)
                    hits.append((rank, self._grade_of[name]))
        return tuple(hits)

    def all_among(self, found: AbstractSet[str]) -> bool:
        """Return whether every relevant object is among these IDs, all of them of relevant objects."""
        return len({self.object_of[raw] for raw in found}) == self.relevant


def judged_scores(judgments: Judgments, ids: Sequence[str], *, held: AbstractSet[str], cut: bool) -> Scores:
    """Return the scores of a list against the judged objects, without those that a cut list cannot decide.

    Args:
        judgments: At least one relevant object.
        ids: Recorded IDs in rank order; may be empty.
        held: The same as a set.
        cut: Whether the true list is longer.
    """
    found = judgments.raws & held
    hits = judgments.hits(ids, found)
    first = hits[0][0] if hits else first_of(found, ids) + 1 if found else None
    scores = _scores(hits, judgments.ideal, judgments.relevant, first)
    if not cut or judgments.all_among(found):
        return scores
    return _decided(scores, depth=len(ids), found=bool(found))


def selected_scores(rank: int | None, *, depth: int, cut: bool) -> Scores:
    """Return the scores of a list against the selected object, one relevant object at its rank.

    Args:
        rank: Rank of the selected object; None where the recorded list does not hold it.
        depth: Length of the recorded list.
        cut: Whether the true list is longer.
    """
    scores = _at_rank(rank)
    return scores if rank is not None or not cut else _decided(scores, depth=depth, found=False)


@lru_cache(maxsize=1024)
def _at_rank(rank: int | None) -> Scores:
    return _scores(((rank, 1),) if rank is not None and rank <= DEPTH else (), (1,), 1, rank)


@lru_cache(maxsize=4096)
def _scores(hits: Hits, ideal: tuple[int, ...], relevant: int, first: int | None) -> Scores:
    """Return every score; kept and shared, since few patterns of hits make up most lists.

    Args:
        hits: Rank and grade of what scores within the ranks that have a cutoff.
        ideal: The highest grades of relevant objects in descending order, as many as a cutoff looks at.
        relevant: How many relevant objects there are.
        first: Rank of the first relevant object, however deep; None where there is none.
    """
    gains = [0] * DEPTH
    for rank, grade in hits:
        gains[rank - 1] = grade
    ranked = Ranked(gains=gains, ideal=ideal, relevant=relevant, first=first)
    return {name: measure.score(ranked, k) for name, (measure, k) in SCORES.items()}


def _decided(scores: Scores, *, depth: int, found: bool) -> Scores:
    """Return the scores that the recorded part of a cut list decides: k IDs are recorded, or for rr a hit."""
    return {name: value for name, value in scores.items() if (SCORES[name][1] <= depth if SCORES[name][1] else found)}
