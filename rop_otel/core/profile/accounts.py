"""The accounts of a run: the population, the counts of verdicts, and the ranks for the diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rop_otel.core.profile.joint import Joint
from rop_otel.core.profile.verdicts import Verdict

_K = TypeVar("_K")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Malformed:
    """A line that is no observation.

    Args:
        file: The record file, as it was named.
        line: 1-based line, or row.
        reason: One sentence.
    """

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Input:
    """A file from which a run was assessed.

    Args:
        file: Its own name, without a folder; ``-`` for standard input.
        sha256: SHA-256 of its bytes as stored.
        bytes: Number of these bytes.
    """

    file: str
    sha256: str
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {"file": self.file, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """All counts of a run; those of two parts can be added.

    Args:
        observed: Observations with a usable record ID, duplicates included.
        verdicts: Observed records by verdict.
        judged: Observed records by the verdict that hard mode gives; empty for an invalid declaration.
        ranks: PASS and FAIL of those by rank; 0 where the rule holds on no prefix.
        nonmatch: Those of them at rank 0 whose list is shorter than the stored depth; 0 without a depth.
        joint: Joint outcomes; None where there is no trace set.
        malformed: In any order.
        inputs: The record files, in any order.
    """

    observed: int = 0
    verdicts: Mapping[Verdict, int] = field(default_factory=dict)
    judged: Mapping[Verdict, int] = field(default_factory=dict)
    ranks: Mapping[int, int] = field(default_factory=dict)
    nonmatch: int = 0
    joint: Joint | None = None
    malformed: tuple[Malformed, ...] = ()
    inputs: tuple[Input, ...] = ()

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            observed=self.observed + other.observed,
            verdicts=_added(self.verdicts, other.verdicts),
            judged=_added(self.judged, other.judged),
            ranks=_added(self.ranks, other.ranks),
            nonmatch=self.nonmatch + other.nonmatch,
            joint=None if self.joint is None or other.joint is None else self.joint + other.joint,
            malformed=self.malformed + other.malformed,
            inputs=self.inputs + other.inputs,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """A run accounted for.

    Args:
        counts: What adds up.
        missing: Expected record IDs never seen, sorted; empty without a valid declaration that has a population.
        duplicates: Record IDs seen more than once, sorted; likewise.
        unexpected: Record IDs outside the population, sorted; likewise.
    """

    counts: Counts
    missing: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()


def _added(left: Mapping[_K, int], right: Mapping[_K, int]) -> dict[_K, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in (*left, *(key for key in right if key not in left))}
