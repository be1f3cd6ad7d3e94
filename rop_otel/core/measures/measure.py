"""What a measure is, and how its file registers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

REGISTERED: Final[list[Measure]] = []
"""Filled as the files of measures are imported; :mod:`rop_otel.core.measures.every` has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One ranked list as measures use it, the same for both targets: a selected object is one with grade 1.

    Args:
        gains: Grade at each rank that a cutoff looks at; 0 where the ID is not relevant or its object was seen.
        ideal: The highest grades of relevant objects in descending order, as many as a cutoff looks at.
        relevant: How many relevant objects there are, at least 1.
        first: Rank of the first relevant object, however deep; None where there is none.
    """

    gains: Sequence[int]
    ideal: Sequence[int]
    relevant: int
    first: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure of a ranked list.

    Args:
        name: Value of ``rop.measure``.
        ks: Cutoffs, each of which gives a score; a single 0 for a measure without one. A cut list decides a score
            with at least k recorded IDs, without a cutoff with a recorded hit.
        place: Where it stands among the others, in reports and on dashboards.
        title: Its usual name.
        description: Its meaning, in a sentence; on a dashboard, of the largest cutoff.
        fills: Whether a list of nothing but the one selected object first can reach 1 at each cutoff.
        score: Returns the score of a list at a cutoff.
    """

    name: str
    ks: tuple[int, ...]
    place: int
    title: str
    description: str
    fills: bool = True
    score: Callable[[Ranked, int], float]

    def at(self, k: int) -> str:
        """Return the name of the score at a cutoff."""
        return f"{self.name}@{k}" if k else self.name


def register(measure: Measure) -> Measure:
    """Add a measure to those that every list is scored by."""
    REGISTERED.append(measure)
    return measure
