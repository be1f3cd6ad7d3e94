"""What a run adds up to: the population accounted for, verdicts counted, ranks for the diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Selected and traced membership on the same rankings, at one cutoff.

    Args:
        both: Records on which both hold.
        selected_only: Records on which only the selected object's holds.
        traced_only: Records on which only the traced object's holds.
        neither: Records on which neither holds.
    """

    both: int = 0
    selected_only: int = 0
    traced_only: int = 0
    neither: int = 0

    def __add__(self, other: Joint) -> Joint:
        return Joint(
            both=self.both + other.both,
            selected_only=self.selected_only + other.selected_only,
            traced_only=self.traced_only + other.traced_only,
            neither=self.neither + other.neither,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Everything about a run that merely adds up.

    Args:
        observed: Observations with a usable record ID, duplicates included.
        verdicts: Observed records by verdict.
        judged: Observed records by the verdict that hard mode gives; empty for an invalid declaration.
        ranks: PASS and FAIL of those by rank; 0 where the rule holds on no prefix.
        joint: Per cutoff, where a trace target is named; what is added has the same cutoffs.
        malformed: In any order.
    """

    observed: int = 0
    verdicts: Mapping[Verdict, int] = field(default_factory=dict)
    judged: Mapping[Verdict, int] = field(default_factory=dict)
    ranks: Mapping[int, int] = field(default_factory=dict)
    joint: Mapping[int, Joint] = field(default_factory=dict)
    malformed: tuple[Malformed, ...] = ()

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            observed=self.observed + other.observed,
            verdicts=_added(self.verdicts, other.verdicts),
            judged=_added(self.judged, other.judged),
            ranks=_added(self.ranks, other.ranks),
            joint={cutoff: joint + other.joint[cutoff] for cutoff, joint in self.joint.items()},
            malformed=self.malformed + other.malformed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """A run accounted for.

    Args:
        counts: What adds up.
        missing: Expected record IDs never seen, sorted; empty unless the declaration is valid and hard.
        duplicates: Record IDs seen more than once, sorted; likewise.
        unexpected: Record IDs outside the population, sorted; likewise.
    """

    counts: Counts
    missing: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()


def _added(left: Mapping[_K, int], right: Mapping[_K, int]) -> dict[_K, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in (*left, *(key for key in right if key not in left))}
