"""What many assessed handoffs add up to: the numbers of every report and of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
        verdicts: By verdict, without handoffs that were not assessed here.
        stages: By stage, in about the order in which they run; a stage counts for each of its lists.
        shown: What the readers were shown. Selected objects count there by verdict: PASS of PASS and FAIL.
        losses: Selected objects by the stage and cause of the loss.
        judged_losses: Judged objects, likewise.
        findings: By severity, code, kind of stage and name.
        joints: Handoffs with both targets, by which of them the reader was shown.
        citations: By outcome.
    """

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


def add_up(assessments: Iterable[Assessment]) -> Totals:
    """Add handoffs up; none give totals of nothing."""
    stages: dict[Spot, _Lists] = {}
    order = _Order()
    shown = _Lists()
    verdicts: Counter[Verdict] = Counter()
    losses: Counter[tuple[Spot, str]] = Counter()
    judged_losses: Counter[tuple[Spot, str]] = Counter()
    findings: Counter[tuple[Severity, str, str, str | None]] = Counter()
    joints: Counter[Joint] = Counter()
    citations: Counter[str] = Counter()
    for each in assessments:
        spots = [spot_of(stage) for stage in each.stages]
        order.take(spots)
        for spot, scores in zip(spots, each.stages, strict=True):
            stages.setdefault(spot, _Lists()).add(scores.returned, scores.present, scores.selected, scores.judged)
        shown.add(len(each.shown.ids), arrived(each), each.shown.selected, each.shown.judged)
        verdicts.update([each.verdict] if each.verdict else ())
        losses.update([lost_at(each.drop)] if each.drop else ())
        judged_losses.update(lost_at(loss.drop) for loss in each.judged_losses or ())
        findings.update((one.severity, one.code.value, one.stage, one.name) for one in each.findings)
        joints.update([each.joint] if each.joint else ())
        citations.update({name: getattr(each.citations, name) for name in CitationCounts.__dataclass_fields__})
    return Totals(
        verdicts=verdicts,
        stages={spot: stages[spot].totals() for spot in order},
        shown=shown.totals(),
        losses=losses,
        judged_losses=judged_losses,
        findings=findings,
        joints=joints,
        citations=CitationCounts(**citations),
    )


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


class _Lists:
    """Lists of one stage, as they are added up."""

    __slots__ = ("_held", "_sizes", "_sums")

    def __init__(self) -> None:
        self._sizes: list[int] = [0, 0]
        self._held = {"selected": [0, 0], "judged": [0, 0]}
        self._sums: dict[str, dict[str, list[float]]] = {"selected": {}, "judged": {}}

    def add(self, returned: int | None, present: bool | None, selected: Scores, judged: Scores) -> None:
        """Add a list: its length, whether it holds the selected object, and its scores."""
        if returned is not None:
            self._sizes[0] += returned
            self._sizes[1] += 1
        for target, holds in (("selected", present), ("judged", holds_judged(judged))):
            if holds is not None:
                self._held[target][0] += 1
                self._held[target][1] += holds
        for target, scores in (("selected", selected), ("judged", judged)):
            sums = self._sums[target]
            for measure, value in scores.items():
                cell = sums.setdefault(measure, [0.0, 0])
                cell[0] += value
                cell[1] += 1

    def totals(self) -> ListTotals:
        """Return what they add up to."""
        total, count = self._sizes
        return ListTotals(
            returned=total / count if count else None,
            selected=Held(*self._held["selected"]),
            judged=Held(*self._held["judged"]),
            selected_means=_means(self._sums["selected"]),
            judged_means=_means(self._sums["judged"]),
        )


def _means(sums: Mapping[str, list[float]]) -> dict[str, float]:
    return {measure: total / count for measure, (total, count) in sums.items()}


class _Order:
    """Stages in about the order in which they run: one that is new comes after the one before it in its handoff."""

    __slots__ = ("_last", "_next")

    def __init__(self) -> None:
        self._next: dict[Spot | None, Spot | None] = {None: None}
        self._last: Spot | None = None

    def take(self, spots: Iterable[Spot]) -> None:
        """Take in the stages of one handoff, in their order."""
        known = list(spots)
        before = None if any(spot in self._next for spot in known) else self._last
        for spot in known:
            if spot not in self._next:
                self._next[spot], self._next[before] = self._next[before], spot
                if self._next[spot] is None:
                    self._last = spot
            before = spot

    def __iter__(self) -> Iterator[Spot]:
        spot = self._next[None]
        while spot is not None:
            yield spot
            spot = self._next[spot]
