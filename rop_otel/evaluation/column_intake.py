"""Takes in columns of plain records at once; records that are not plain are left to the checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rop_otel.core.profile.intake import Intake, Ranked
from rop_otel.evaluation.column_ranking import ColumnRanking, Columns
from rop_otel.evaluation.string_arrays import Flags, Ints


class ColumnIntake:
    """Ranks columns and hands the results to an intake.

    Args:
        intake: Where the records are counted.
        ranking: The membership rule.
        depth: How deep lists were stored; 0 if unknown.
    """

    def __init__(self, intake: Intake, ranking: ColumnRanking, *, depth: int) -> None:
        self._intake, self._ranking, self._depth = intake, ranking, depth

    def take(self, columns: Columns, ids: Sequence[str], plain: Flags, *, file: str, lines: Ints) -> Flags:
        """Take in the plain records of columns.

        Args:
            columns: The records.
            ids: Their record IDs.
            plain: Which of them are well-formed and have a record ID; the columns' values for others are ignored.
            file: Where they stand.
            lines: The line or row of each.

        Returns:
            Which of them were taken in: the plain ones with a key that the resolver knows.
        """
        objects = self._ranking.objects(columns)
        taken: Flags = plain & (objects >= 0)
        ranks = self._ranking.ranks(columns, objects)
        places = np.flatnonzero(taken)
        kept = self._kept(columns, ids, objects, ranks, places, lines)
        short = taken & (ranks == 0) & (np.diff(columns.offsets) < self._depth)
        self._intake.ranked(
            [ids[place] for place in places.tolist()],
            ranks[places].tolist(),
            nonmatch=int(np.count_nonzero(short)),
            file=file,
            kept=kept,
        )
        return taken

    def _kept(
        self, columns: Columns, ids: Sequence[str], objects: Ints, ranks: Ints, places: Ints, lines: Ints
    ) -> Iterator[Ranked]:
        names, lengths = self._ranking.names, np.diff(columns.offsets)
        for place in places.tolist():
            rank = int(ranks[place])
            object_id = names[objects[place]] if rank else None
            yield Ranked(ids[place], int(lines[place]), rank, object_id, int(lengths[place]))
