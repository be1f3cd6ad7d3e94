"""A rule whose last lists are kept, since fusion, reranking and the rule itself all ask for the same."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked


class RememberedRule:
    """Gives the lists of a rule, each found once for the same texts, whoever asks and however often they stand there.

    Args:
        rule: What finds them, by the queries' texts alone.
        least: Depth at which it is asked, whatever less is wanted.
    """

    def __init__(self, rule: HandoffRule, least: int) -> None:
        self.name = rule.name
        self._rule = rule
        self._least = least
        self._depth = 0
        self._found: dict[str, Ranked | Lost] = {}

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the first pages of each list."""
        asked = {query.text: query for query in queries}
        if asked.keys() != self._found.keys() or depth > self._depth:
            self._depth = max(depth, self._least)
            lists = self._rule.rank([*asked.values()], self._depth)
            self._found = dict(zip(asked, lists, strict=True))
        found = (self._found[query.text] for query in queries)
        return [one if isinstance(one, Lost) else one[:depth] for one in found]
