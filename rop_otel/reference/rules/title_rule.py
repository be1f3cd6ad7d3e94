"""The rule ``title``: the page whose title is the query, to the letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rop_otel.core.ranking import Lost, Page, Query, Ranked


class TitleRule:
    """Returns the page of a title; every page of it, by ID, where the corpus has the title more than once.

    Args:
        pages: The corpus.
    """

    name = "title"

    def __init__(self, pages: Iterable[Page]) -> None:
        self._ids: dict[str, list[str]] = {}
        for page in pages:
            self._ids.setdefault(page.title, []).append(page.id)

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the pages with score 1 for each query; none where no title is the query."""
        return [[(page, 1.0) for page in sorted(self._ids.get(query.text, ()))[:depth]] for query in queries]
