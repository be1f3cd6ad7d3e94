"""Intervals by a bootstrap over questions: all rows of a question are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rop_otel.errors import ConfigurationError, remedy

LEVEL: Final = 0.95
_BLOCK: Final = 250_000
"""Draws that are held in memory at once."""


def require_numpy() -> Any:
    """Return numpy.

    Raises:
        ConfigurationError: It is missing.
    """
    try:
        import numpy as np
    except ImportError as error:
        raise ConfigurationError(f"intervals need numpy: {remedy('study')}") from error
    return np


def mean_interval(
    values: Sequence[float], clusters: Sequence[str], *, resamples: int, seed: int
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a mean; None without values.

    Args:
        values: One a row, such as a paired difference.
        clusters: The question of each.
        resamples: How often questions are drawn, as many as there are, with replacement.
        seed: Of numpy's PCG64: the same seed gives the same interval.

    Raises:
        ConfigurationError: numpy is missing.
    """
    if not values:
        return None
    np = require_numpy()
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    places = np.array([names[name] for name in clusters])
    sums = np.bincount(places, weights=np.asarray(values, dtype=np.float64), minlength=len(names))
    sizes = np.bincount(places, minlength=len(names))
    random = np.random.Generator(np.random.PCG64(seed))
    means = []
    block = max(1, _BLOCK // len(names))
    for begun in range(0, resamples, block):
        drawn = random.integers(0, len(names), size=(min(block, resamples - begun), len(names)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
