"""What a study ranks: pages and planned rows; and what a query form and a handoff rule are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Ranked = Sequence[tuple[str, float]]
"""IDs of pages with their scores, best first; higher is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a corpus.

    Args:
        id: Its key.
        title: What a reader calls it.
        text: What it says; may be empty.
    """

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow:
    """One recorded selection: what was asked, and what was selected for it.

    Args:
        id: The question's ID.
        selector: What selected.
        question: The question's text; None where the record has none.
        selected_id: What was selected (U); None: nothing was.
        selected_title: The title of the page that was selected; None where that is no page of the corpus.
        fields: The record as it was given.
    """

    id: str
    selector: str
    question: str | None
    selected_id: str | None = None
    selected_title: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lost:
    """A row that could not be run.

    Args:
        reason: Why, as the accounting names it.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for.

    Args:
        text: Not blank.
        row: The row that it was made of.
    """

    text: str
    row: StudyRow


class QueryForm(Protocol):
    """A way of turning a row into a query."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def query(self, row: StudyRow) -> str | Lost:
        """Return the text to look for, or why there is none."""


class HandoffRule(Protocol):
    """A way of turning a query, or a selection, into a ranked list of pages."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def rank(self, queries: Sequence[Query], depth: int) -> Sequence[Ranked | Lost]:
        """Return for each query, in order, at most so many pages, or why there is no list."""


def missing_selection(row: StudyRow) -> Lost | None:
    """Return why a row's selection cannot be looked up, None where it can."""
    if row.selected_id is None:
        return Lost("no_selection")
    return Lost("unresolved_selection") if row.selected_title is None else None
