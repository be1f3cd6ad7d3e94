"""Plain numbers of one handoff name and of its stages; code that uses them holds the tally's lock."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from rop_otel import semconv
from rop_otel.core.handoff.assessment import CitationCounts, DropCause, Joint, Scores, SourceShown, Verdict
from rop_otel.core.handoff.record import StageRecord
from rop_otel.meters.metric_values import NO_STAGE, Capped, stageless_causes

_INFINITY = float("inf")
_MAX_IMPLEMENTATIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """The latest handoff that was counted in a series.

    Args:
        trace_id, span_id: Its span, in hex.
        time: When it ended, Unix seconds.
    """

    trace_id: str
    span_id: str
    time: float


class HistogramNumbers:
    """Counts by bucket, the last one unbounded, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one value; a bound belongs to the bucket below it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class MissNumbers:
    """Losses at one stage with one cause: of selected objects, with the latest of them, and of judged ones."""

    __slots__ = ("count", "exemplar", "judged")

    def __init__(self) -> None:
        self.count = 0
        self.judged = 0
        self.exemplar: Exemplar | None = None


class ScoreNumbers:
    """Sum and count of each measure, by target."""

    __slots__ = ("judged", "selected")

    def __init__(self) -> None:
        self.selected: dict[str, list[float]] = {}
        self.judged: dict[str, list[float]] = {}

    def add(self, selected: Scores, judged: Scores) -> None:
        """Add the scores of one list; one that is no finite number is left out of sum and count."""
        for cells, scores in ((self.selected, selected), (self.judged, judged)):
            for measure, value in scores.items():
                cell = cells.get(measure)
                if cell is None:
                    cell = cells[measure] = [0.0, 0]
                if -_INFINITY < value < _INFINITY:
                    cell[0] += value
                    cell[1] += 1


class StageNumbers:
    """Numbers of one kind of stage. ``executions`` are counted by implementation and form of the query."""

    __slots__ = ("_implementation", "duration", "executions", "returned")

    def __init__(self) -> None:
        self._implementation = Capped(_MAX_IMPLEMENTATIONS)
        self.executions: dict[tuple[str, str], int] = {}
        self.returned = 0
        self.duration = HistogramNumbers(semconv.STAGE_DURATION.buckets)

    def ran(self, record: StageRecord, *, form: str) -> None:
        """Count one execution."""
        how = (self._implementation(record.implementation) if record.implementation else "", form)
        self.executions[how] = self.executions.get(how, 0) + 1
        ids = record.returned
        if ids is not None:
            count = record.returned_count
            self.returned += len(ids) if count is None else max(count, len(ids))
        if record.end_ns is not None:
            self.duration.add(duration_seconds(record.start_ns, record.end_ns))


class HandoffNumbers:
    """Numbers of the handoffs of one name.

    ``presence`` counts lists without and with the selected object, by stage, round and form of the query; ``scores``
    stand by stage and round; ``sources`` counts shown IDs that others returned too, and those that none did;
    ``answers`` those that answer, and those that abstain.
    """

    __slots__ = (
        "answers",
        "budget",
        "citations",
        "expected",
        "findings",
        "is_judged",
        "joints",
        "misses",
        "presence",
        "scores",
        "sources",
        "stages",
        "tokens",
        "verdicts",
    )

    def __init__(self) -> None:
        self.verdicts: dict[str, dict[Verdict, int]] = {}
        self.misses: dict[tuple[str, str], MissNumbers] = {
            (NO_STAGE, cause): MissNumbers() for cause in stageless_causes()
        }
        self.findings: Counter[tuple[str, str, str]] = Counter()
        self.citations = [0, 0, 0, 0]
        self.tokens = 0
        self.budget = 0
        self.answers = [0, 0]
        self.stages: dict[str, StageNumbers] = {}
        self.presence: dict[tuple[str, str, str], list[int]] = {}
        self.scores: dict[tuple[str, str], ScoreNumbers] = {}
        self.sources: dict[str, list[int]] = {}
        self.joints: dict[tuple[str, str], int] = {}
        self.is_judged = False
        self.expected: tuple[str, ...] = ()

    def judged(self, mode: str, verdict: Verdict) -> None:
        """Count one verdict; every verdict of a mode starts at 0 when the mode is first seen."""
        counts = self.verdicts.get(mode)
        if counts is None:
            counts = self.verdicts[mode] = dict.fromkeys(Verdict, 0)
        counts[verdict] += 1

    def may_miss(self, stage: str, cause: DropCause) -> None:
        """Start a series of losses at 0, where it is not there yet."""
        self.misses.setdefault((stage, cause.value), MissNumbers())

    def missed(self, stage: str, cause: DropCause, exemplar: Exemplar | None) -> None:
        """Count one loss."""
        self.may_miss(stage, cause)
        miss = self.misses[stage, cause.value]
        miss.count += 1
        miss.exemplar = exemplar or miss.exemplar

    def lost(self, stage: str, cause: DropCause) -> None:
        """Count one loss of a judged object."""
        self.may_miss(stage, cause)
        self.misses[stage, cause.value].judged += 1

    def held(self, place: tuple[str, str, str], *, present: bool) -> None:
        """Count one list, by whether it holds the selected object."""
        counts = self.presence.get(place)
        if counts is None:
            counts = self.presence[place] = [0, 0]
        counts[present] += 1

    def scored(self, place: tuple[str, str], selected: Scores, judged: Scores) -> None:
        """Add the scores of one list."""
        if selected or judged:
            scores = self.scores.get(place)
            if scores is None:
                scores = self.scores[place] = ScoreNumbers()
            scores.add(selected, judged)

    def brought(self, source: str, shown: SourceShown) -> None:
        """Add how many shown IDs one source returned."""
        counts = self.sources.get(source)
        if counts is None:
            counts = self.sources[source] = [0, 0]
        counts[0] += shown.shown - shown.only
        counts[1] += shown.only

    def joined(self, joint: Joint, *, agreement: bool) -> None:
        """Count one joint outcome; all of them start at 0 with the first."""
        if not self.joints:
            self.joints = {(each.value, truth): 0 for each in Joint for truth in ("true", "false")}
        self.joints[joint.value, "true" if agreement else "false"] += 1

    def packed(self, record: StageRecord) -> None:
        """Add the tokens that a packing stage used and was allowed."""
        self.tokens += max(record.tokens or 0, 0)
        self.budget += max(record.token_budget or 0, 0)

    def cited(self, counts: CitationCounts) -> None:
        """Add the citations of one answer."""
        outcomes = (counts.resolved, counts.unresolved, counts.misattributed, counts.unattached)
        for place, count in enumerate(outcomes):
            self.citations[place] += count


def duration_seconds(start_ns: int, end_ns: int) -> float:
    """Return a duration in seconds; 0 where the clock was set back in between."""
    return max(end_ns - start_ns, 0) / 1e9
