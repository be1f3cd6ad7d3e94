"""The rule ``key``: the selected page by its key, past every ranking."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.ranking import Lost, Query, Ranked, missing_selection


class KeyRule:
    """Returns the selected page alone, whatever the query."""

    name = "key"

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the selected page with score 1 for each query."""
        return [missing_selection(query.row) or [(str(query.row.selected_id), 1.0)][:depth] for query in queries]
