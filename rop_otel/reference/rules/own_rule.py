"""A rule of one's own: a function that takes a query and returns pages."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import isfinite
from typing import Any

from rop_otel.core.ranking import Lost, Query, Ranked
from rop_otel.reference.named_callable import NamedCallable

WRONG_NUMBER = Lost("wrong_number")


class ExternalRule:
    """Calls ``function(query, depth)``, which returns at most so many IDs, or pairs of ID and score, best first.

    IDs without scores get ``1 / rank``. A row is lost where the function raises, returns more pages than were asked for
    or as pairs of another shape, names no page of the corpus, or names one twice.

    Args:
        function: What is called.
        ids: The pages of the corpus.
    """

    def __init__(self, function: NamedCallable, ids: Container[str]) -> None:
        self.name = function.name
        self._call = function.call
        self._ids = ids

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return what the function returns for each query, or how it failed."""
        return [self._one(query.text, depth) for query in queries]

    def _one(self, text: str, depth: int) -> Ranked | Lost:
        try:
            found = [_hit(one, rank) for rank, one in enumerate(self._call(text, depth), 1)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's function: only its row is lost
            return Lost(f"rule_failed: {type(error).__name__}")
        ids = [page for page, _ in found]
        if len(ids) > depth or len(set(ids)) < len(ids):
            return WRONG_NUMBER
        return found if all(page in self._ids for page in ids) else Lost("rule_failed: unknown page")


def _hit(one: Any, rank: int) -> tuple[str, float]:
    page, score = (one, 1 / rank) if isinstance(one, str) else one
    if not isinstance(page, str) or not isfinite(score):
        raise ValueError(one)
    return page, float(score)
