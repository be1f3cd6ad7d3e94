"""Handoffs added up in plain numbers, which can be taken out again, kept, and added to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

from rop_otel.core.handoff.assessment import Assessment, CitationCounts, Joint, Scores, Severity, Verdict
from rop_otel.core.handoff.run_order import RunOrder
from rop_otel.core.handoff.totals import Held, ListTotals, Spot, Totals, arrived, holds_judged, lost_at, spot_of

MOST_KEYS: Final = 1000
"""Stages, losses or findings that are kept apart in stored sums: names may be as many as the handoffs."""

OTHER: Final = "other"
"""The stage that stands for those beyond."""

_OTHER_SPOT: Final = Spot(OTHER)
_CITATIONS: Final = tuple(CitationCounts.__dataclass_fields__)


def add_up(assessments: Iterable[Assessment]) -> Totals:
    """Add handoffs up; none give totals of nothing."""
    sums = Sums()
    for each in assessments:
        sums.add(each)
    return sums.totals()


class Sums:
    """Sums over handoffs; none at first.

    Attributes:
        handoffs: How many.
        verdicts: By verdict, without handoffs that were not assessed here.
        shown: The lists that readers were shown.
    """

    __slots__ = (
        "_citations",
        "_findings",
        "_joints",
        "_judged_losses",
        "_losses",
        "_order",
        "_stages",
        "handoffs",
        "shown",
        "verdicts",
    )

    def __init__(self) -> None:
        self.handoffs = 0
        self.verdicts: Counter[str] = Counter()
        self.shown = ListSums()
        self._stages: dict[Spot, ListSums] = {}
        self._order = RunOrder()
        self._losses: Counter[tuple[Spot, str]] = Counter()
        self._judged_losses: Counter[tuple[Spot, str]] = Counter()
        self._findings: Counter[tuple[str, str, str, str | None]] = Counter()
        self._joints: Counter[str] = Counter()
        self._citations: Counter[str] = Counter()

    @classmethod
    def of(cls, assessment: Assessment) -> Self:
        """Return the sums of one handoff."""
        sums = cls()
        sums.add(assessment)
        return sums

    def add(self, assessment: Assessment) -> None:
        """Add one handoff."""
        self.handoffs += 1
        spots = [spot_of(stage) for stage in assessment.stages]
        self._order.take(spots)
        for spot, scores in zip(spots, assessment.stages, strict=True):
            lists = self._stages.get(spot)
            if lists is None:
                lists = self._stages[spot] = ListSums()
            lists.add(scores.returned, scores.present, scores.selected, scores.judged)
        shown = assessment.shown
        self.shown.add(len(shown.ids), arrived(assessment), shown.selected, shown.judged)
        self.verdicts.update([assessment.verdict.value] if assessment.verdict else ())
        self._losses.update([lost_at(assessment.drop)] if assessment.drop else ())
        self._judged_losses.update(lost_at(loss.drop) for loss in assessment.judged_losses or ())
        self._findings.update((one.severity.value, one.code.value, one.stage, one.name) for one in assessment.findings)
        self._joints.update([assessment.joint.value] if assessment.joint else ())
        self._citations.update({name: getattr(assessment.citations, name) for name in _CITATIONS})

    def merge(self, other: Self, *, sign: int = 1) -> None:
        """Add other sums; with -1 as sign, take them out again: what then is zero is gone."""
        self.handoffs += sign * other.handoffs
        if sign > 0:
            self._order.take(other._order)
        for spot, lists in other._stages.items():
            own = self._stages.get(spot)
            if own is None:
                own = self._stages[spot] = ListSums()
                self._order.take([spot])
            own.merge(lists, sign)
            if own.is_empty:
                del self._stages[spot]
        self.shown.merge(other.shown, sign)
        for mine, others in zip(self._counters(), other._counters(), strict=True):
            for key, count in others.items():
                mine[key] += sign * count
                if not mine[key]:
                    del mine[key]

    def within(self, known: Self) -> Self:
        """Return these sums with at most so many stages, losses and findings that those known come to ``MOST_KEYS``."""
        pairs = zip(self._counters(), known._counters(), strict=True)
        sizes = [len(self._stages) + len(known._stages), *(len(one) + len(other) for one, other in pairs)]
        if max(sizes) <= MOST_KEYS:
            return self
        sums = type(self)()
        sums.handoffs, sums.shown = self.handoffs, self.shown
        sums.verdicts, sums._joints, sums._citations = self.verdicts, self._joints, self._citations
        left = MOST_KEYS - len(known._stages)
        for spot in self._order:
            left -= spot not in known._stages
            kept = spot if spot in known._stages or left >= 0 else _OTHER_SPOT
            sums._order.take([kept])
            sums._stages.setdefault(kept, ListSums()).merge(self._stages[spot], 1)
        sums._losses = _within(self._losses, known._losses, lambda key: (_OTHER_SPOT, key[1]))
        sums._judged_losses = _within(self._judged_losses, known._judged_losses, lambda key: (_OTHER_SPOT, key[1]))
        sums._findings = _within(self._findings, known._findings, lambda key: (key[0], key[1], OTHER, None))
        return sums

    def _counters(self) -> tuple[Counter[Any], ...]:
        return (
            self.verdicts,
            self._losses,
            self._judged_losses,
            self._findings,
            self._joints,
            self._citations,
        )

    def totals(self) -> Totals:
        """Return what they amount to."""
        return Totals(
            handoffs=self.handoffs,
            verdicts=Counter({Verdict(verdict): count for verdict, count in self.verdicts.items()}),
            stages={spot: self._stages[spot].totals() for spot in self._order if spot in self._stages},
            shown=self.shown.totals(),
            losses=self._losses,
            judged_losses=self._judged_losses,
            findings=Counter({(Severity(key[0]), *key[1:]): count for key, count in self._findings.items()}),
            joints=Counter({Joint(joint): count for joint, count in self._joints.items()}),
            citations=CitationCounts(**{name: self._citations[name] for name in _CITATIONS}),
        )

    def as_list(self) -> list[Any]:
        """Return them as JSON has values, for :meth:`from_list`."""
        return [
            self.handoffs,
            self.verdicts,
            [[*spot, self._stages[spot].as_list()] for spot in self._order if spot in self._stages],
            self.shown.as_list(),
            [[*spot, cause, count] for (spot, cause), count in self._losses.items()],
            [[*spot, cause, count] for (spot, cause), count in self._judged_losses.items()],
            [[*key, count] for key, count in self._findings.items()],
            self._joints,
            self._citations,
        ]

    @classmethod
    def from_list(cls, values: list[Any]) -> Self:
        """Return sums that were written by :meth:`as_list`."""
        sums = cls()
        sums.handoffs, verdicts, stages, shown, losses, judged_losses, findings, joints, citations = values
        sums.verdicts, sums._joints, sums._citations = Counter(verdicts), Counter(joints), Counter(citations)
        sums._stages = {Spot(*spot): ListSums.from_list(lists) for *spot, lists in stages}
        sums._order.take(sums._stages)
        sums.shown = ListSums.from_list(shown)
        sums._losses = Counter({(Spot(*spot), cause): count for *spot, cause, count in losses})
        sums._judged_losses = Counter({(Spot(*spot), cause): count for *spot, cause, count in judged_losses})
        sums._findings = Counter({tuple(key): count for *key, count in findings})
        return sums


def _within(counts: Counter[Any], known: Counter[Any], other: Callable[[Any], Any]) -> Counter[Any]:
    left = MOST_KEYS - len(known)
    found: Counter[Any] = Counter()
    for key, count in counts.items():
        left -= key not in known
        found[key if key in known or left >= 0 else other(key)] += count
    return found


class ListSums:
    """Sums over lists of one stage; none at first.

    Attributes:
        held: How many lists; the lengths of those that are readable, and their number; lists of which it is known
            whether they hold the selected object, and those that do; the same of judged objects.
    """

    __slots__ = ("_judged", "_selected", "held")

    def __init__(self) -> None:
        self.held = [0] * 7
        self._selected: dict[str, list[float]] = {}
        self._judged: dict[str, list[float]] = {}

    def add(self, returned: int | None, present: bool | None, selected: Scores, judged: Scores) -> None:
        """Add a list: its length, whether it holds the selected object, and its scores."""
        held = self.held
        held[0] += 1
        if returned is not None:
            held[1] += returned
            held[2] += 1
        if present is not None:
            held[3] += 1
            held[4] += present
        if (holds := holds_judged(judged)) is not None:
            held[5] += 1
            held[6] += holds
        for sums, scores in ((self._selected, selected), (self._judged, judged)):
            for measure, value in scores.items():
                cell = sums.get(measure)
                if cell is None:
                    sums[measure] = [value, 1]
                else:
                    cell[0] += value
                    cell[1] += 1

    def merge(self, other: Self, sign: int) -> None:
        """Add or take out other sums."""
        self.held = [mine + sign * theirs for mine, theirs in zip(self.held, other.held, strict=True)]
        for mine, theirs in ((self._selected, other._selected), (self._judged, other._judged)):
            for measure, (total, count) in theirs.items():
                cell = mine.setdefault(measure, [0.0, 0])
                cell[0] += sign * total
                cell[1] += sign * count
                if not cell[1]:
                    del mine[measure]

    @property
    def is_empty(self) -> bool:
        """Whether there are no lists left."""
        return not self.held[0]

    @property
    def selected(self) -> Held:
        """The lists that hold the selected object."""
        return Held(*self.held[3:5])

    def totals(self) -> ListTotals:
        """Return what they amount to."""
        held = self.held
        return ListTotals(
            returned=held[1] / held[2] if held[2] else None,
            selected=self.selected,
            judged=Held(*held[5:7]),
            selected_means=_means(self._selected),
            judged_means=_means(self._judged),
        )

    def as_list(self) -> list[Any]:
        """Return them as JSON has values."""
        return [*self.held, self._selected, self._judged]

    @classmethod
    def from_list(cls, values: list[Any]) -> Self:
        """Return sums that were written by :meth:`as_list`."""
        sums = cls()
        *sums.held, sums._selected, sums._judged = values
        return sums


def _means(sums: Mapping[str, list[float]]) -> dict[str, float]:
    return {measure: total / count for measure, (total, count) in sums.items()}
