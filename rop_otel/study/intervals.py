"""Intervals by a bootstrap over questions: all rows of a question are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Interval = tuple[float, float]

LEVEL: Final = 0.95
"""How sure an interval is."""

_TAILS: Final = (0.025, 0.975)
_CELLS: Final = 4_000_000
"""How many draws of one question are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A percentile bootstrap of means over rows.

    A sample has as many questions as there are, drawn with replacement, and each brings all its rows. The samples are
    the same for every mean over the same questions, so that such means are paired.

    Args:
        draws: How many samples are drawn; 0 gives no intervals.
        seed: Where the random numbers begin.

    Raises:
        ConfigurationError: Either is below 0.
    """

    draws: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        for option, number in (("--intervals", self.draws), ("--seed", self.seed)):
            if number < 0:
                raise ConfigurationError(f"{option} {number}: it must be at least 0")

    def intervals(
        self, clusters: Sequence[str], low: Sequence[Sequence[float]], high: Sequence[Sequence[float]] | None = None
    ) -> list[Interval | None]:
        """Return the 95 % interval of the mean of each column.

        Args:
            clusters: The question of each row.
            low: Columns of a value for each row.
            high: The same where a row's value is not known for certain: the greatest that it can be, as ``low`` has the
                least; None: ``low`` is certain. The interval then covers whatever the values are.

        Returns:
            One for each column; None without draws and where there are fewer than two questions, which say nothing of
            how questions differ.
        """
        columns = len(low)
        if not self.draws or len(set(clusters)) < 2:
            return [None] * columns
        import numpy as np  # an extra, imported where it is used

        certain = high is None or list(map(list, high)) == list(map(list, low))
        values = [*low] if certain or high is None else [*low, *high]
        means = self._means(clusters, np.array(values, dtype=np.float64).T)
        lows = np.quantile(means[:, :columns], _TAILS[0], axis=0)
        highs = np.quantile(means[:, -columns:], _TAILS[1], axis=0)
        return [(float(lower), float(upper)) for lower, upper in zip(lows, highs, strict=True)]

    def _means(self, clusters: Sequence[str], values: Floats) -> Floats:
        """Return the mean of each column in each sample: draws × columns."""
        import numpy as np

        order = {name: place for place, name in enumerate(sorted(set(clusters)))}
        places, count = np.array([order[name] for name in clusters]), len(order)
        sizes = np.bincount(places, minlength=count)
        sums = np.stack([np.bincount(places, weights=column, minlength=count) for column in values.T] + [sizes], axis=1)
        random = np.random.default_rng(self.seed)
        found = []
        step = max(1, _CELLS // count)
        for start in range(0, self.draws, step):
            size = min(step, self.draws - start)
            picks = random.integers(count, size=(size, count)) + np.arange(size)[:, None] * count
            times = np.bincount(picks.ravel(), minlength=size * count).reshape(size, count)
            totals = times.astype(np.float64) @ sums
            found.append(totals[:, :-1] / totals[:, -1:])
        return np.concatenate(found)
