"""The document that the page reads: its head, and one row for each handoff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff import FINDINGS, Assessment, DropCause, HandoffRecord, JudgedLoss, Verdict
from rop_otel.core.handoff.advice import CAUSES, FINDING_WORDS, meaning
from rop_otel.core.handoff.assessment import CitationCounts
from rop_otel.core.handoff.totals import ListTotals, Spot, Totals, arrived, holds_judged, lost_at, spot_of
from rop_otel.core.handoff.written import as_list
from rop_otel.page.assessed_set import AssessedSet
from rop_otel.version import installed_version

FORMAT: Final = 1
"""The version of the document's shape."""

BLOCK: Final = 100
"""Handoffs of which the details stand in one block."""

MOST_STAGES: Final = 200
"""Rows of the totals by stage: names of stages may be as many as the handoffs."""

_SHOWN: Final = Spot(semconv.SHOWN)
_MARKS: Final = {None: "-", False: "0", True: "1"}
_CITATIONS: Final = tuple(CitationCounts.__dataclass_fields__)


def head(
    sets: Sequence[AssessedSet],
    totals: Sequence[Totals],
    *,
    title: str,
    made_at: str | None = None,
    trace_url: str | None = None,
) -> dict[str, Any]:
    """Return what the page reads first.

    Args:
        sets: Each one that the page shows.
        totals: What the handoffs of each add up to.
        title: Of the page.
        made_at: When it is made, RFC 3339; None: not said, so that the same handoffs give the same bytes.
        trace_url: Where a trace is seen, with ``{trace_id}`` for its ID; None: trace IDs are no links.
    """
    return {
        **live_head(title=title, trace_url=trace_url),
        "made_at": made_at,
        "sets": [
            {
                "name": each.name,
                "handoffs": len(each.assessments),
                "blocks": -(-len(each.assessments) // BLOCK),
                "summary": summary(each, total),
            }
            for each, total in zip(sets, totals, strict=True)
        ],
    }


def live_head(*, title: str, trace_url: str | None = None) -> dict[str, Any]:
    """Return what the page reads first where it asks for everything else: the head without sets."""
    return {
        "format": FORMAT,
        "version": installed_version(),
        "title": title,
        "trace_url": trace_url,
        "words": _words(),
    }


def place_of(spot: Spot) -> str:
    """Return a stage in one word: ``mmr``, ``vector/titles``, ``rerank/2``; empty where no stage can be blamed."""
    return "/".join(str(part) for part in spot if part is not None)


def rows(shown: AssessedSet, totals: Totals) -> Iterator[dict[str, Any]]:
    """Yield a row for each handoff of a set, in order.

    ``selected_at`` and ``judged_at`` have a mark for each row of the summary's ``survival``: 1 where a list of that
    stage holds a selected or judged object, 0 where none does, - where that is not known.
    """
    columns = [*_listed(totals.survival), _SHOWN]
    for assessment, record in zip(shown.assessments, shown.records, strict=True):
        row = row_of(assessment, record, shown.carried.service(record.trace_id, record.span_id))
        yield {**row, **marked(marks_of(assessment), columns)}


def row_of(assessment: Assessment, record: HandoffRecord, service: str | None) -> dict[str, Any]:
    """Return the row of one handoff, without its marks."""
    whole = assessment.as_dict()
    losses = assessment.judged_losses
    return {
        **{name: whole[name] for name in _SAME},
        "service": service,
        "findings": [[finding.code.value, finding.stage] for finding in assessment.findings],
        "selected": as_list(record.selected),
        "judged": as_list(record.judged),
        "judged_losses": None if losses is None else [_lost_at(loss) for loss in losses],
        "citations": [getattr(assessment.citations, name) for name in _CITATIONS],
        "start": start_of(record),
        "duration": duration_of(record),
    }


def marks_of(assessment: Assessment) -> dict[Spot, str]:
    """Return for each stage of a handoff the mark of its selected objects and that of its judged ones."""
    marks: dict[Spot, list[bool | None]] = {}
    for stage in assessment.stages:
        found = marks.setdefault(spot_of(stage), [None, None])
        for place, holds in enumerate((stage.present, holds_judged(stage.judged))):
            if holds is not None:
                found[place] = bool(found[place]) or holds
    marks[_SHOWN] = [arrived(assessment), holds_judged(assessment.shown.judged)]
    return {spot: "".join(_MARKS[mark] for mark in found) for spot, found in marks.items()}


def marked(marks: Mapping[Spot, str], columns: Iterable[Spot]) -> dict[str, str]:
    """Return the marks of a row as it has them."""
    found = [marks.get(spot, "--") for spot in columns]
    return {"selected_at": "".join(each[0] for each in found), "judged_at": "".join(each[1] for each in found)}


_SAME: Final = tuple(
    """handoff_id trace_id handoff_name record_id run_id verdict mode selected_rank dropped_at dropped_at_name
    dropped_at_round drop_cause agreement joint""".split()
)
"""What a row has as the contract gives it."""


def start_of(record: HandoffRecord) -> float | None:
    """Return when a handoff started, Unix seconds; None where that is not known."""
    return record.start_ns / 1e9 if record.start_ns else None


def duration_of(record: HandoffRecord) -> float | None:
    """Return how long a handoff took, seconds; None where that is not known."""
    return (record.end_ns - record.start_ns) / 1e9 if record.start_ns and record.end_ns >= record.start_ns else None


def _lost_at(loss: JudgedLoss) -> list[str | int | None]:
    spot, cause = lost_at(loss.drop)
    return [*spot, cause]


def summary(shown: AssessedSet, totals: Totals) -> dict[str, Any]:
    """Return what the handoffs of a set add up to."""
    stages = {**_listed(totals.stages), _SHOWN: totals.shown}
    survival = {**_listed(totals.survival), _SHOWN: totals.shown}
    places = sorted(
        {*totals.losses, *totals.judged_losses},
        key=lambda place: (-totals.losses[place], -totals.judged_losses[place], str(place)),
    )
    return {
        "verdicts": {verdict.value: totals.verdicts[verdict] for verdict in Verdict if totals.verdicts[verdict]},
        "joints": {joint.value: count for joint, count in sorted(totals.joints.items())},
        "survival": [
            {**spot._asdict(), "selected": each.selected._asdict(), "judged": each.judged._asdict()}
            for spot, each in survival.items()
        ],
        "stages_left_out": max(0, len(totals.stages) - MOST_STAGES),
        "losses": [
            {
                **spot._asdict(),
                "cause": cause,
                "count": totals.losses[spot, cause],
                "judged": totals.judged_losses[spot, cause],
            }
            for spot, cause in places
        ],
        "findings": [
            {"code": code, "severity": severity.value, "stage": stage, "name": name, "count": count}
            for (severity, code, stage, name), count in sorted(
                totals.findings.items(), key=lambda found: (-found[1], str(found[0]))
            )
        ],
        "scores": [{**spot._asdict(), **_means(each)} for spot, each in stages.items()],
        "citations": {name: getattr(totals.citations, name) for name in _CITATIONS},
        "orphan_stages": shown.orphan_stages,
        "incomplete_handoffs": list(shown.incomplete),
        "duplicate_handoffs": list(shown.duplicates),
        "absent_resolvers": list(shown.absent_resolvers),
        "run": shown.run,
    }


def _listed(stages: Mapping[Spot, ListTotals]) -> dict[Spot, ListTotals]:
    """Return the stages that are listed, in order: those of most lists where they are too many."""
    if len(stages) <= MOST_STAGES:
        return dict(stages)
    most = sorted(stages, key=lambda spot: -max(stages[spot].selected.of, stages[spot].judged.of))
    kept = set(most[:MOST_STAGES])
    return {spot: lists for spot, lists in stages.items() if spot in kept}


def _means(lists: ListTotals) -> dict[str, Any]:
    return {
        "returned": lists.returned,
        "selected": dict(lists.selected_means),
        "judged": dict(lists.judged_means),
    }


def _words() -> dict[str, Any]:
    return {
        "verdicts": {verdict.value: meaning(verdict) for verdict in Verdict},
        "causes": {cause.value: {"says": CAUSES[cause].says, "try": CAUSES[cause].advice} for cause in DropCause},
        "findings": {
            code.value: {
                "severity": code.severity.value,
                "says": FINDING_WORDS[code].says,
                "try": FINDING_WORDS[code].advice,
            }
            for code in FINDINGS
        },
    }
