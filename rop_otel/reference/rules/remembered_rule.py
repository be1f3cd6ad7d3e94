"""A rule whose last lists are kept, since fusion, reranking and the rule itself all ask for the same."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked


class RememberedRule:
    """Gives the lists of a rule, each found once for queries that follow each other.

    Args:
        rule: What finds them, by the queries' texts alone.
        least: Depth at which it is asked, whatever less is wanted.
    """

    def __init__(self, rule: HandoffRule, least: int) -> None:
        self.name = rule.name
        self._rule = rule
        self._least = least
        self._asked: tuple[str, ...] = ()
        self._depth = 0
        self._found: Sequence[Ranked | Lost] = ()

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the first pages of each list."""
        asked = tuple(query.text for query in queries)
        if asked != self._asked or depth > self._depth:
            self._depth = max(depth, self._least)
            self._found = self._rule.rank(queries, self._depth)
            self._asked = asked
        return [found if isinstance(found, Lost) else found[:depth] for found in self._found]
