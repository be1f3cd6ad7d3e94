"""The rules ``reserved:RULE``: any rule with its first slot kept for the selected page."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import HandoffRule, Lost, Query, Ranked

PREFIX = "reserved:"


class ReservedRule:
    """Puts the selected page first, then the other pages of a rule, as many as fit.

    The selected page's score is the rule's best one and 1 more, so that the scores order the list too. Where nothing
    was selected, or no page of the corpus, the slot is the rule's own.

    Args:
        rule: What fills the other slots.
    """

    def __init__(self, rule: HandoffRule) -> None:
        self.name = PREFIX + rule.name
        self._rule = rule

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return each list behind its reserved slot."""
        found = self._rule.rank(queries, depth)
        return [_behind(query, ranked, depth) for query, ranked in zip(queries, found, strict=True)]


def _behind(query: Query, found: Ranked | Lost, depth: int) -> Ranked | Lost:
    selected = query.row.selected_id
    if isinstance(found, Lost) or selected is None or query.row.selected_title is None:
        return found
    best = max((score for _, score in found), default=0.0)
    return [(selected, best + 1), *(hit for hit in found if hit[0] != selected)][:depth]
