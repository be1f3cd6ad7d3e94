"""Scores of models, rounded: the last bits of a float depend on the machine, and with them the order of near ties."""

from __future__ import annotations

DIGITS = 6


def rounded(score: float) -> float:
    """Return a score as it is compared and written."""
    return round(score, DIGITS)
