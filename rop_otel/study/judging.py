"""Rankings judged: every selector, query form and rule is a ROP run over all planned rows of the selector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rop_otel.core.profile.declaration import Declaration, Interface, Opened
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.observation import observe
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import RunReport, run_report
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import RunStatus, Verdict
from rop_otel.study.frozen_study import RankedRow, RankingName, Study
from rop_otel.study.planned_rows import PlannedRow

RECORD_FIELD: Final = "record_id"
SELECTION_FIELD: Final = "selected_id"
TRACE_FIELD: Final = "gold_ids"
OUTPUT_FIELD: Final = "ids"

RowKey = tuple[str, str]
"""Selector and question."""


class Outcome(NamedTuple):
    """What a run says of one planned row.

    Args:
        verdict: What hard mode gives; None where the row was lost or seen twice.
        rank: Where the target is; 0 where it is not in the list.
        trace_rank: Where a judged object is; 0 where none is, or none is known.
        short: Whether the list is shorter than the stored depth.
        query: The text that was run; None where none was.
        reason: Why nothing was run; None where something was.
    """

    verdict: Verdict | None
    rank: int = 0
    trace_rank: int = 0
    short: bool = False
    query: str | None = None
    reason: str | None = None

    @property
    def judged(self) -> bool:
        """Whether there is a list to look into."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL)

    def found(self, cutoff: int) -> bool | None:
        """Return whether the target is within a cutoff; None where that is not known."""
        return 0 < self.rank <= cutoff if self.judged else None

    def trace_found(self, cutoff: int) -> bool | None:
        """Return whether a judged object is within a cutoff; None where that is not known."""
        return 0 < self.trace_rank <= cutoff if self.judged else None


LOST: Final = Outcome(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A ranking judged against one target.

    Args:
        reports: The run's report by selector.
        outcomes: What it says of each planned row.
        reasons: By selector, how many rows were not run and why.
    """

    reports: Mapping[str, RunReport]
    outcomes: Mapping[RowKey, Outcome] = field(repr=False)
    reasons: Mapping[str, Mapping[str, int]]

    def of(self, rows: Iterable[PlannedRow]) -> Iterator[Outcome]:
        """Yield the outcome of each of some rows."""
        return (self.outcomes[row.key] for row in rows)

    def status(self, selectors: Sequence[str]) -> RunStatus:
        """Return the status of the runs of some selectors taken as one: the first that applies to any."""
        order = list(RunStatus)
        return min((self.reports[name].run_status for name in selectors), key=order.index)


def record_of(row: PlannedRow | None, ranked: RankedRow) -> dict[str, Any]:
    """Return a ranked row as a record of a run.

    Args:
        row: Its planned row; None where there is none.
        ranked: What was returned.
    """
    planned = {RECORD_FIELD: ranked.id} if row is None else row.record()
    return planned | {OUTPUT_FIELD: ranked.ids, "query": ranked.query, "reason": ranked.reason}


def judge_ranking(study: Study, name: RankingName, *, at: Sequence[int], cutoff: int, traced: bool = False) -> Judged:
    """Judge a ranking.

    Args:
        study: The folder.
        name: The ranking.
        at: Cutoffs that the reports count at.
        cutoff: The declared one.
        traced: True for the judged objects as the target, False for the selected one.

    Raises:
        InputError: The ranking cannot be read.
        ConfigurationError: A cutoff is below 1, or beyond the stored depth.
    """
    planned = {row.key: row for row in study.rows}
    selectors = tuple(dict.fromkeys(row.selector for row in study.rows))
    runs = {each: _run(study, name, each, at=at, cutoff=cutoff, traced=traced) for each in selectors}
    outcomes: dict[RowKey, Outcome] = {}
    reasons: dict[str, Counter[str]] = {each: Counter() for each in selectors}
    for ranked in study.ranked_rows(name):
        key, (opened, counts) = (ranked.selector, ranked.id), runs[ranked.selector]
        outcomes[key] = _observed(opened, counts, planned.get(key), ranked, depth=study.depth)
        if ranked.ids is None:
            reasons[ranked.selector][ranked.reason or "not said"] += 1
    reports = {}
    for selector, (opened, counts) in runs.items():
        accounts = counts.accounts()
        reports[selector] = run_report(opened, accounts, terms=counts.terms)
        outcomes.update(dict.fromkeys(((selector, each) for each in accounts.duplicates), LOST))
    return Judged(reports=reports, outcomes={key: outcomes.get(key, LOST) for key in planned}, reasons=reasons)


def _run(
    study: Study, name: RankingName, selector: str, *, at: Sequence[int], cutoff: int, traced: bool
) -> tuple[Opened, RunCounts]:
    declaration = Declaration(
        declaration_id=f"{selector}.{name.form}.{name.rule}",
        interface=Interface(name=name.rule),
        manifest_sha256=study.files.sha256,
        mode="hard",
        selection_field=FieldPath.parse(TRACE_FIELD if traced else SELECTION_FIELD),
        output_field=FieldPath.parse(OUTPUT_FIELD),
        cutoff=cutoff,
        rule="any",
        resolver=study.resolver,
        population=tuple(sorted(row.id for row in study.rows if row.selector == selector)),
        witness=None,
        depth=study.depth,
        trace_field=None if traced else FieldPath.parse(TRACE_FIELD),
        query_form=name.form,
    )
    opened = Opened(
        manifest_sha256=study.files.sha256,
        declaration_id=declaration.declaration_id,
        mode=declaration.mode,
        record_field=FieldPath.parse(RECORD_FIELD),
        faults=(),
        declaration=declaration,
    )
    return opened, RunCounts(opened, terms=Terms.of(opened, at=at))


def _observed(opened: Opened, counts: RunCounts, row: PlannedRow | None, ranked: RankedRow, *, depth: int) -> Outcome:
    if opened.declaration is None:
        raise ValueError("the declaration of a study's run is valid")
    record = record_of(row, ranked)
    judgment = counts.observe(observe(record, ranked.id, opened.declaration, trace_field=counts.trace_field))
    return Outcome(
        judgment.verdict,
        judgment.rank or 0,
        judgment.trace_rank or 0,
        isinstance(ranked.ids, list) and len(ranked.ids) < depth,
        ranked.query,
        ranked.reason if ranked.ids is None else None,
    )
