"""What many outcomes add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Final, TypeAlias

from rop_otel.core.handoff import Assessment, Drop, FindingCode, Joint, Severity, Verdict
from rop_otel.core.handoff.kinds import RESCUE
from rop_otel.core.handoff.sums import add_up
from rop_otel.core.handoff.totals import ListTotals
from rop_otel.core.measures import NDCG, RECALL, RECIPROCAL_RANK
from rop_otel.reference.pipeline import EXPECTED, Outcome

SHOWN: Final = "shown"
"""The row of what the reader was shown, below those of the stages."""

_ROWS: Final = (*EXPECTED, SHOWN)

Place: TypeAlias = tuple[str | None, str]
"""Stage (None: no stage can be blamed) and cause of a loss."""

MEASURES: Final = (RECALL.at(5), RECIPROCAL_RANK.at(0), NDCG.at(10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How many lists of a stage hold the selected object."""

    stage: str
    held: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Mean scores of a stage's lists; a measure is absent where no list was scored.

    Args:
        stage: The stage.
        returned: Mean length.
        selected, judged: Measure to mean.
    """

    stage: str
    returned: float
    selected: Mapping[str, float]
    judged: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What one source brought, over the handoffs of which it is known what was shown.

    Args:
        source: Its kind.
        shown: Shown passages that it returned.
        only: Those of them that no other source returned.
    """

    source: str
    shown: int
    only: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Totals over outcomes.

    Args:
        handoffs: How many.
        verdicts: By verdict.
        funnel: By stage in order, then what was shown.
        losses: Selected objects by stage (None: no stage can be blamed) and cause.
        judged_losses: Judged objects, likewise.
        joints: Handoffs with both targets, by which of them the reader was shown.
        worth: What each source brought, in order.
        findings: By severity, code and stage.
        means: By stage in order, then what was shown.
        right, wrong, unselected: Selections that are judged relevant, that are not, and that did not come.
        abstained: Answers withheld.
        citations: By outcome.
        unresolved: Outcomes whose selection is not in the corpus.
        rescued: Whether rescue added anything.
        examples: The first handoff that lost an object at each stage and for each cause, with the object.
        instances: The first question with each finding, and its message, by code and stage.
    """

    handoffs: int
    verdicts: Mapping[Verdict, int]
    funnel: tuple[Held, ...]
    losses: Mapping[Place, int]
    judged_losses: Mapping[Place, int]
    joints: Mapping[Joint, int]
    worth: tuple[Worth, ...]
    findings: Mapping[tuple[Severity, str, str], int]
    means: tuple[Means, ...]
    right: int
    wrong: int
    unselected: int
    abstained: int
    citations: Mapping[str, int]
    unresolved: tuple[Outcome, ...]
    rescued: bool
    examples: Mapping[Place, tuple[str | None, Outcome]]
    instances: Mapping[tuple[str, str], tuple[str, str]]

    def found(self, code: FindingCode, stage: str) -> int:
        """Return how often a finding came at a stage."""
        return sum(count for (_, *where), count in self.findings.items() if where == [code.value, stage])


def summarise(outcomes: Iterable[Outcome], *, canonical: Callable[[str], str]) -> Summary:
    """Add outcomes up.

    Args:
        outcomes: Any.
        canonical: Returns the object to which an ID belongs.
    """
    done = list(outcomes)
    assessments = [outcome.assessment for outcome in done]
    totals = add_up(assessments)
    examples: dict[Place, tuple[str | None, Outcome]] = {}
    instances: dict[tuple[str, str], tuple[str, str]] = {}
    for outcome in done:
        drop = outcome.assessment.drop
        if drop is not None:
            examples.setdefault(_place(drop), (outcome.selected, outcome))
        for loss in outcome.assessment.judged_losses or ():
            examples.setdefault(_place(loss.drop), (loss.id, outcome))
        for finding in outcome.assessment.findings:
            instances.setdefault((finding.code.value, finding.stage), (outcome.question.id, finding.message))
    rows = _rows(assessments)
    lists = {**{spot.stage: each for spot, each in totals.stages.items()}, SHOWN: totals.shown}
    selections = [_selection(outcome, canonical) for outcome in done]
    return Summary(
        handoffs=len(done),
        verdicts=totals.verdicts,
        funnel=_funnel({**{spot.stage: each for spot, each in totals.survival.items()}, SHOWN: totals.shown}, rows),
        losses=totals.losses_by_kind,
        judged_losses=totals.judged_losses_by_kind,
        joints=totals.joints,
        worth=_worth(assessments),
        findings=totals.findings_by_kind,
        means=_means(lists, rows),
        right=selections.count(True),
        wrong=selections.count(False),
        unselected=sum(outcome.selected is None for outcome in done),
        abstained=sum(outcome.answer.abstained for outcome in done),
        citations=asdict(totals.citations),
        unresolved=tuple(each for each in done if each.assessment.verdict is Verdict.RESOLUTION_ERROR),
        rescued=RESCUE in rows,
        examples=examples,
        instances=instances,
    )


def _place(drop: Drop) -> Place:
    return drop.stage, drop.cause.value


def _worth(assessments: list[Assessment]) -> tuple[Worth, ...]:
    shown: Counter[str] = Counter()
    only: Counter[str] = Counter()
    for source in chain.from_iterable(assessment.sources for assessment in assessments):
        shown[source.stage] += source.shown
        only[source.stage] += source.only
    return tuple(Worth(source=stage, shown=shown[stage], only=only[stage]) for stage in shown)


def _selection(outcome: Outcome, canonical: Callable[[str], str]) -> bool | None:
    if outcome.selected is None or not outcome.question.judged:
        return None
    return canonical(outcome.selected) in {canonical(raw) for raw in outcome.question.judged}


def _rows(assessments: list[Assessment]) -> tuple[str, ...]:
    """Return the stages to list, in order: rescue, which mostly has nothing to add, only where it added something."""
    rescued = any(stage.stage == RESCUE and stage.returned for each in assessments for stage in each.stages)
    return _ROWS if rescued else tuple(row for row in _ROWS if row != RESCUE)


def _funnel(lists: Mapping[str | None, ListTotals], rows: tuple[str, ...]) -> tuple[Held, ...]:
    held = [(row, lists[row].selected) for row in rows if row in lists]
    return tuple(Held(stage=row, held=each.kept, total=each.of) for row, each in held if each.of)


def _means(lists: Mapping[str | None, ListTotals], rows: tuple[str, ...]) -> tuple[Means, ...]:
    return tuple(
        Means(
            stage=row,
            returned=lists[row].returned or 0.0,
            selected=_shown_ones(lists[row].selected_means),
            judged=_shown_ones(lists[row].judged_means),
        )
        for row in rows
        if row in lists
    )


def _shown_ones(means: Mapping[str, float]) -> dict[str, float]:
    return {measure: means[measure] for measure in MEASURES if measure in means}
