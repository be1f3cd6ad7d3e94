"""The values that one stage hands to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved passage.

    Args:
        id: The passage's ID.
        score: The stage's own score; higher is better.
        scope: The library that the passage comes from.
    """

    id: str
    score: float
    scope: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A passage with its place in the final ranking, which stays with it whatever its place in a list.

    Args:
        id: The passage's ID.
        scope: The library that it comes from.
        rank: 0-based; siblings come after everything that was ranked.
    """

    id: str
    scope: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text chosen from one passage for the reader.

    Args:
        id: The passage's ID.
        scope: The library that it comes from.
        rank: Its place in the ranking, whatever its place in the list.
        title: Its heading.
        text: What the reader would see of it.
    """

    id: str
    scope: str
    rank: int
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A passage in the reader's context.

    Args:
        id: The passage's ID.
        scope: The library that it comes from.
        label: Citation label.
        title: Its heading.
        text: What the reader sees.
        tokens: Tokens of the text.
    """

    id: str
    scope: str
    label: str
    title: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The reader's answer.

    Args:
        text: The answer with its citations, or the words of an abstention.
        abstained: Whether the evidence was too thin to answer.
    """

    text: str
    abstained: bool


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits by falling score, ties by ID: two runs give the same list."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
