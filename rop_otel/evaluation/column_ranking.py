"""Ranks of whole columns: the membership rule over many plain records at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rop_otel.core.profile.declaration import Declaration
from rop_otel.evaluation.string_arrays import Index, Ints, Marks, Texts

_LEAST_CELLS: Final = 1_000_000
_MOST_WASTE: Final = 8
_NONE: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The fields of plain records.

    Args:
        selections: The selected keys, one each.
        returned: Every returned ID, one record's after the other's.
        offsets: Where each record's begin, and where the last one's end.
    """

    selections: Texts
    returned: Texts
    offsets: Ints


class ColumnRanking:
    """The membership rule of a declaration, over columns.

    ``fits`` says whether the objects have sizes similar enough to be laid out side by side; if not, there are no ranks.

    Args:
        declaration: A valid one.
    """

    def __init__(self, declaration: Declaration) -> None:
        resolver, self._every = declaration.resolver, declaration.rule == "all"
        self.names, owners = resolver.objects(), resolver.places()
        self._known = Texts.of(list(owners))
        self._index = Index(self._known)
        self._tails = self._known.tails()
        self._owners = np.fromiter(owners.values(), dtype=np.int64, count=len(owners))
        sizes = np.bincount(self._owners, minlength=len(self.names))
        firsts = np.cumsum(sizes) - sizes
        self._most = int(sizes.max(initial=0))
        self.fits = len(firsts) * self._most <= _LEAST_CELLS + _MOST_WASTE * len(owners)
        slots = np.arange(self._most if self.fits else 0)
        self._wanted = np.where(slots < sizes[:, None], firsts[:, None] + slots, -1)
        if self._every and self.fits:
            members = np.fromiter(map(resolver.is_member, owners), dtype=bool, count=len(owners))
            self._wanted[~members[self._wanted]] = -1

    def objects(self, columns: Columns) -> Ints:
        """Return the number of each record's selected object, -1 where the resolver does not know the key."""
        places = self._index.find(columns.selections)
        return np.where(places >= 0, self._owners[places] if len(self._owners) else -1, -1)

    def ranks(self, columns: Columns, objects: Ints) -> Ints:
        """Return the length of each record's shortest prefix on which the rule holds, 0 where there is none.

        Args:
            columns: The records.
            objects: The number of each one's selected object; the result for -1 is undefined.
        """
        tails, counts = columns.returned.tails(), np.diff(columns.offsets)
        hits = [self._hits(columns, tails, counts, self._wanted[objects, slot]) for slot in range(self._most)]
        if self._every:
            return self._last_of_all(objects, hits)
        rows = np.concatenate([row for row, _ in hits]) if hits else np.zeros(0, dtype=np.int64)
        found = np.full(len(objects), _NONE)
        if len(rows):
            np.minimum.at(found, rows, np.concatenate([rank for _, rank in hits]))
        return np.where(found == _NONE, 0, found)

    def _last_of_all(self, objects: Ints, hits: Sequence[tuple[Ints, Ints]]) -> Ints:
        ranks = np.zeros(len(objects), dtype=np.int64)
        for slot, (rows, found) in enumerate(hits):
            first = np.full(len(objects), _NONE)
            np.minimum.at(first, rows, found)
            ranks = np.where(self._wanted[objects, slot] >= 0, np.maximum(ranks, first), ranks)
        return np.where(ranks == _NONE, 0, ranks)

    def _hits(self, columns: Columns, tails: Marks, counts: Ints, wanted: Ints) -> tuple[Ints, Ints]:
        """Return the records and ranks at which their wanted string is returned."""
        places = np.flatnonzero(tails == np.repeat(self._tails[wanted], counts))
        rows = np.searchsorted(columns.offsets, places, side="right") - 1
        due = wanted[rows] >= 0
        places, rows = places[due], rows[due]
        same = columns.returned.equal(places, self._known, wanted[rows])
        places, rows = places[same], rows[same]
        return rows, places - columns.offsets[rows] + 1
