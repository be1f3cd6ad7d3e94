"""Plain rows ranked: a selection is compared with the strings of its object, instead of every ID being resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.joint import Compared
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.record_ranking import Ranking

Row: TypeAlias = "tuple[str, str, list[str], object]"
"""Record ID, selected key and returned IDs of a well-formed record, each perhaps empty; and its judged objects."""

Each: TypeAlias = "Callable[[int, str, Sequence[str], int, Compared | None], None]"
"""Called with a row's place, its record ID, its returned IDs, the rank, and how it compares under a trace set."""


class Taken(NamedTuple):
    """The result of ranking some rows.

    Args:
        record_ids: Those of the rows that were ranked.
        ranks: Theirs.
        compared: How each compares; empty without a trace set.
        short: The places of those of rank 0 whose list is shorter than the stored depth.
        left: The places of the rows left over.
    """

    record_ids: list[str]
    ranks: list[int]
    compared: list[Compared]
    short: list[int]
    left: list[int]


class PlainRows:
    """Ranks well-formed records with one known selected key.

    Args:
        declaration: A valid one.
        counts: What the records are counted in.
    """

    def __init__(self, declaration: Declaration, counts: RunCounts) -> None:
        self._ranking = Ranking(declaration)
        self._comparison, self._depth = counts.comparison, counts.terms.depth or 0

    def take(self, rows: Iterable[Row | None], each: Each | None) -> Taken:
        """Rank rows.

        Args:
            rows: None stands for a record that is not plain.
            each: What is done with each that is ranked.
        """
        groups, rank_in, comparison, depth = (
            self._ranking.groups, self._ranking.rank_in, self._comparison, self._depth
        )  # fmt: skip
        taken = Taken([], [], [], [], [])
        record_ids, ranks, compared, short, left = taken
        how: Compared | None = None
        for place, row in enumerate(rows):
            if row is None:
                left.append(place)
                continue
            record_id, selection, ids, traced = row
            group = groups[selection]
            if group is None or not record_id:
                left.append(place)
                continue
            rank = rank_in(group, ids)
            record_ids.append(record_id)
            ranks.append(rank)
            if not rank and len(ids) < depth:
                short.append(place)
            if comparison is not None:
                how = comparison.compare((selection,), traced, ids, rank=rank)
                compared.append(how)
            if each is not None:
                each(place, record_id, ids, rank, how)
        return taken

    def object_id(self, ids: Sequence[str], rank: int) -> str | None:
        """Return the object that the rule holds for: the one that the last ID of the prefix belongs to."""
        return self._ranking.object_id(ids, rank)
