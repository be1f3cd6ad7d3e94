"""What every table is made from: judged rankings, groups of rows, cutoffs, and shares with their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from rop_otel.errors import ConfigurationError
from rop_otel.study.frozen_study import RankingName, Study
from rop_otel.study.intervals import LEVEL, Bootstrap, Interval
from rop_otel.study.judging import Judged, judge_ranking
from rop_otel.study.planned_rows import Group, PlannedRow, groups_of

READER: Final = 5
"""The cutoff of the paper's reader: the declared one where it is among those that are asked for."""

DEFAULT_CUTOFFS: Final = (1, READER, 20)

_K = TypeVar("_K", bound=Hashable)
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of some rows have a property.

    Args:
        count: Those that are known to have it.
        lost: Those of which it is not known.
        n: All of them.
        interval: Of the share, over questions; it covers whatever the lost rows would have said.
        row_interval: The same over rows; None unless it was asked for.
    """

    count: int
    lost: int
    n: int
    interval: Interval | None
    row_interval: Interval | None = None

    @property
    def rate(self) -> float | None:
        """The share that is known to have it, rounded; None of no rows."""
        return round(self.count / self.n, _DIGITS) if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A study with the choices that its tables are made under.

    Args:
        study: The folder.
        cutoffs: In ascending order.
        bootstrap: Makes the intervals.
        row_level: Whether intervals over rows stand beside those over questions.
    """

    study: Study
    cutoffs: tuple[int, ...]
    bootstrap: Bootstrap
    row_level: bool = False
    _judged: dict[tuple[RankingName, bool], Judged] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, study: Study, *, at: Sequence[int], bootstrap: Bootstrap, row_level: bool = False) -> Context:
        """Return the context for some cutoffs.

        Args:
            study: The folder.
            at: The cutoffs; empty for the paper's, as far as lists are stored.
            bootstrap: Makes the intervals.
            row_level: Whether intervals over rows stand beside.

        Raises:
            ConfigurationError: A cutoff is below 1 or beyond the stored depth.
        """
        cutoffs = at or [cutoff for cutoff in DEFAULT_CUTOFFS if cutoff <= study.depth] or [study.depth]
        for cutoff in cutoffs:
            check_cutoff(cutoff, study.depth)
        return cls(study=study, cutoffs=tuple(sorted({*cutoffs})), bootstrap=bootstrap, row_level=row_level)

    @property
    def reader(self) -> int:
        """The declared cutoff: the paper's where it is among the cutoffs, else the first of them."""
        return READER if READER in self.cutoffs else self.cutoffs[0]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The rows of each selector and, where there are several, all of them."""
        return groups_of(self.study.rows)

    @property
    def whole(self) -> Group:
        """All rows: the group of the only selector, or of all of them."""
        return self.groups[-1]

    def choices(self) -> dict[str, Any]:
        """Return what a report says of what it was made from, and how."""
        study = self.study
        return {
            "manifest_sha256": study.files.sha256,
            "planned": len(study.rows),
            "cutoffs": list(self.cutoffs),
            "cutoff": self.reader,
            "depth": study.depth,
            "intervals": {
                "level": LEVEL,
                "draws": self.bootstrap.draws,
                "seed": self.bootstrap.seed,
                "over": "questions",
                "single_rows": clusters(study.rows) == len(study.rows),
            },
            "notes": list(study.files.manifest.notes),
        }

    def judged(self, name: RankingName, *, traced: bool = False) -> Judged:
        """Return a ranking judged, once for each target.

        Args:
            name: The ranking.
            traced: True for the judged objects as the target, False for the selected one.
        """
        found = self._judged.get((name, traced))
        if found is None:
            found = judge_ranking(self.study, name, at=self.cutoffs, cutoff=self.reader, traced=traced)
            self._judged[name, traced] = found
        return found

    def shares(self, rows: Sequence[PlannedRow], columns: Mapping[_K, Sequence[bool | None]]) -> dict[_K, Share]:
        """Return what share of some rows has each of some properties.

        Args:
            rows: The rows.
            columns: Whether each row has the property, None where that is not known.
        """
        given = list(columns.values())
        low = [[float(value is True) for value in column] for column in given]
        high = [[float(value is not False) for value in column] for column in given]
        lost = [column.count(None) for column in given]
        return dict(zip(columns, self._shares(rows, low, high, lost), strict=True))

    def returned_fields(self, rows: Sequence[PlannedRow], here: Mapping[int, Share]) -> dict[str, Any]:
        """Return what a table's row says of the rows that got an object back, by cutoff.

        Args:
            rows: All of them.
            here: The share that got it, by cutoff.
        """
        return {
            "n": len(rows),
            "returned": {str(cutoff): each.count for cutoff, each in here.items()},
            "rate": {str(cutoff): each.rate for cutoff, each in here.items()},
            **self.interval_fields(here),
            "clusters": clusters(rows),
        }

    def differences(
        self, rows: Sequence[PlannedRow], pairs: Mapping[_K, tuple[Sequence[bool | None], Sequence[bool | None]]]
    ) -> dict[_K, Share]:
        """Return by how much the share of a second property is greater than that of a first, row by row.

        Args:
            rows: The rows.
            pairs: Whether each row has the first property, and the second; None where that is not known. A row of which
                either is not known counts as no difference, and as lost.
        """
        certain, low, high, lost = [], [], [], []
        for before, after in pairs.values():
            both = list(zip(before, after, strict=True))
            certain.append([0.0 if None in pair else float(pair[1] or 0) - float(pair[0] or 0) for pair in both])
            low.append([float(b is True) - float(a is not False) for a, b in both])
            high.append([float(b is not False) - float(a is True) for a, b in both])
            lost.append(sum(None in pair for pair in both))
        found = self._shares(rows, low, high, lost)
        return {
            key: replace(share, count=round(sum(values)))
            for key, share, values in zip(pairs, found, certain, strict=True)
        }

    def _shares(
        self,
        rows: Sequence[PlannedRow],
        low: Sequence[Sequence[float]],
        high: Sequence[Sequence[float]],
        lost: Sequence[int],
    ) -> list[Share]:
        wide = self.bootstrap.intervals([row.id for row in rows], low, high)
        narrow: list[Interval | None] = [None] * len(low)
        if self.row_level:
            # Named by their questions first, so that questions of one row each are drawn as before.
            names = [f"{row.id}\0{place:09d}" for place, row in enumerate(rows)]
            narrow = self.bootstrap.intervals(names, low, high)
        return [
            Share(count=round(sum(values)), lost=missing, n=len(rows), interval=interval, row_interval=row_interval)
            for values, missing, interval, row_interval in zip(low, lost, wide, narrow, strict=True)
        ]

    def interval_fields(self, shares: Mapping[int, Share]) -> dict[str, Any]:
        """Return the fields of a table's row that hold the intervals of shares by cutoff."""
        fields = {"interval": {str(cutoff): rounded(share.interval) for cutoff, share in shares.items()}}
        if self.row_level:
            fields["row_interval"] = {str(cutoff): rounded(share.row_interval) for cutoff, share in shares.items()}
        return fields


def check_cutoff(cutoff: int, depth: int) -> None:
    """Refuse a cutoff that nothing can be said of.

    Raises:
        ConfigurationError: It is below 1 or beyond the stored depth.
    """
    if cutoff < 1:
        raise ConfigurationError(f"--at {cutoff}: it must be at least 1")
    if cutoff > depth:
        stored = f"lists were stored no deeper than {depth}; what was not stored is not a miss"
        raise ConfigurationError(f"--at {cutoff}: {stored}")


def rounded(interval: Interval | None) -> list[float] | None:
    """Return an interval as JSON has it."""
    return None if interval is None else [round(each, _DIGITS) + 0.0 for each in interval]


def clusters(rows: Sequence[PlannedRow]) -> int:
    """Return how many questions some rows have."""
    return len({row.id for row in rows})
