"""What many assessed handoffs amount to: the numbers of every report and of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rop_otel.core.handoff.assessment import (
    Assessment,
    CitationCounts,
    Drop,
    Joint,
    Scores,
    Severity,
    StageScores,
    Verdict,
)
from rop_otel.core.handoff.kinds import RESCUE
from rop_otel.core.measures import RECIPROCAL_RANK

_FIRST_HIT: Final = RECIPROCAL_RANK.at(0)


class Spot(NamedTuple):
    """A stage as totals know it: all its executions in all handoffs.

    Args:
        stage: Its kind; None: no stage can be blamed.
        name, round: Which one, where known.
    """

    stage: str | None
    name: str | None = None
    round: int | None = None


class Held(NamedTuple):
    """Lists that hold an object.

    Args:
        of: Lists of which it is known.
        kept: Those of them that hold it.
    """

    of: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTotals:
    """What the lists of one stage add up to, or the shown lists.

    Args:
        returned: Mean length of the readable ones; None where none is.
        selected: Lists that hold the selected object.
        judged: Lists that hold a judged object.
        selected_means, judged_means: Measure to mean, over the lists that are scored.
    """

    returned: float | None
    selected: Held
    judged: Held
    selected_means: Mapping[str, float]
    judged_means: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Totals over handoffs.

    Args:
        handoffs: How many.
        verdicts: By verdict, without handoffs that were not assessed here.
        stages: By stage, in about the order in which they run; a stage counts for each of its lists.
        shown: What the readers were shown. Selected objects count there by verdict: PASS of PASS and FAIL.
        losses: Selected objects by the stage and cause of the loss.
        judged_losses: Judged objects, likewise.
        findings: By severity, code, kind of stage and name.
        joints: Handoffs with both targets, by which of them the reader was shown.
        citations: By outcome.
    """

    handoffs: int
    verdicts: Counter[Verdict]
    stages: Mapping[Spot, ListTotals]
    shown: ListTotals
    losses: Counter[tuple[Spot, str]]
    judged_losses: Counter[tuple[Spot, str]]
    findings: Counter[tuple[Severity, str, str, str | None]]
    joints: Counter[Joint]
    citations: CitationCounts

    @property
    def survival(self) -> Mapping[Spot, ListTotals]:
        """The stages whose lists say whether objects survive.

        A rescue adds to what packing shows: one that never brought a selected object says nothing.
        """
        return {spot: lists for spot, lists in self.stages.items() if spot.stage != RESCUE or lists.selected.kept}

    @property
    def losses_by_kind(self) -> Counter[tuple[str | None, str]]:
        """Selected objects by the kind of the stage and the cause of the loss."""
        return _by_kind(self.losses)

    @property
    def judged_losses_by_kind(self) -> Counter[tuple[str | None, str]]:
        """Judged objects, likewise."""
        return _by_kind(self.judged_losses)

    @property
    def findings_by_kind(self) -> Counter[tuple[Severity, str, str]]:
        """Findings by severity, code and kind of stage."""
        found: Counter[tuple[Severity, str, str]] = Counter()
        for (severity, code, stage, _), count in self.findings.items():
            found[severity, code, stage] += count
        return found


def spot_of(stage: StageScores) -> Spot:
    """Return what totals know a stage by."""
    return Spot(stage.stage, stage.name, stage.round)


def lost_at(drop: Drop) -> tuple[Spot, str]:
    """Return where an object was lost and the cause."""
    return Spot(drop.stage, drop.name, drop.round), drop.cause.value


def arrived(assessment: Assessment) -> bool | None:
    """Return whether the selected object was shown; None where the verdict is neither PASS nor FAIL."""
    return assessment.verdict is Verdict.PASS if assessment.verdict in (Verdict.PASS, Verdict.FAIL) else None


def holds_judged(judged: Scores) -> bool | None:
    """Return whether a list with these scores holds a judged object; None where that is not known."""
    return judged[_FIRST_HIT] > 0 if _FIRST_HIT in judged else None


def _by_kind(losses: Counter[tuple[Spot, str]]) -> Counter[tuple[str | None, str]]:
    found: Counter[tuple[str | None, str]] = Counter()
    for (spot, cause), count in losses.items():
        found[spot.stage, cause] += count
    return found
