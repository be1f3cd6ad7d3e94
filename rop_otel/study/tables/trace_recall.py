"""Tables 20 and 22: how often the dataset's judged object is returned."""

from __future__ import annotations

from typing import Any, Final

from rop_otel.study.judging import Outcome
from rop_otel.study.planned_rows import Group, Standing
from rop_otel.study.tables.joint_tables import TITLE_FORM
from rop_otel.study.tables.losses import lay_out_returns
from rop_otel.study.tables.study_table import Grid, Shape, Table, cutoffs_of, estimated, share
from rop_otel.study.tables.table_context import Context, clusters

QUESTION_FORM: Final = "question"

UPSTREAM: Final = frozenset({"no_selection", "unresolved_selection"})
"""Why a row was not run for which there was nothing to run: it counts as a miss of the judged object."""


def _build_recall(context: Context) -> Shape:
    return {"rows": [row for group in context.groups for row in _recall(context, group)]}


def _recall(context: Context, group: Group) -> list[dict[str, Any]]:
    rows = [row for row in group.rows if row.traced]
    shares = context.shares(
        rows,
        {
            (name, cutoff): [_returned(outcome, cutoff) for outcome in context.judged(name, traced=True).of(rows)]
            for name in context.study.rankings
            for cutoff in context.cutoffs
        },
    )
    found = []
    for name in context.study.rankings if rows else ():
        here = {cutoff: shares[name, cutoff] for cutoff in context.cutoffs}
        judged = context.judged(name, traced=True)
        found.append(
            {
                "selector": group.name,
                "form": name.form,
                "rule": name.rule,
                **context.returned_fields(rows, here),
                "without_query": sum(outcome.reason in UPSTREAM for outcome in judged.of(rows)),
                "unverifiable": here[context.reader].lost,
                "run_status": str(judged.status(group.selectors)),
            }
        )
    return found


def _returned(outcome: Outcome, cutoff: int) -> bool | None:
    return False if outcome.reason in UPSTREAM else outcome.found(cutoff)


def _lay_out_recall(shape: Shape) -> list[Grid]:
    if not shape["rows"]:
        return [Grid(header=[], rows=[], notes=["No row has a G in the corpus."])]
    note = "Of all planned rows with G in the corpus; a row without a selection to make a query of counts as a miss."
    return [Grid(header=grid.header, rows=grid.rows, notes=[note]) for grid in lay_out_returns(shape)]


def _build_difference(context: Context) -> Shape:
    rows = []
    names = {(name.form, name.rule): name for name in context.study.rankings}
    rules = [rule for form, rule in names if form == QUESTION_FORM and (TITLE_FORM, rule) in names]
    for group in context.groups:
        cohort = group.of(Standing.SAME)
        columns: dict[tuple[str, str, int], list[bool | None]] = {}
        for rule in rules if cohort else ():
            for form in (QUESTION_FORM, TITLE_FORM):
                outcomes = [*context.judged(names[form, rule]).of(cohort)]
                for cutoff in context.cutoffs:
                    columns[rule, form, cutoff] = [outcome.found(cutoff) for outcome in outcomes]
        pairs = {
            (rule, cutoff): (columns[rule, QUESTION_FORM, cutoff], columns[rule, TITLE_FORM, cutoff])
            for rule, form, cutoff in columns
            if form == TITLE_FORM
        }
        found = context.differences(cohort, pairs)
        for rule in rules if cohort else ():
            differences = {cutoff: found[rule, cutoff] for cutoff in context.cutoffs}
            rows.append(
                {
                    "selector": group.name,
                    "rule": rule,
                    "n": len(cohort),
                    "returned": {
                        form: {str(cutoff): columns[rule, form, cutoff].count(True) for cutoff in context.cutoffs}
                        for form in (QUESTION_FORM, TITLE_FORM)
                    },
                    "difference": {str(cutoff): each.rate for cutoff, each in differences.items()},
                    **context.interval_fields(differences),
                    "clusters": clusters(cohort),
                    "unverifiable": differences[context.reader].lost,
                }
            )
    return {"rows": rows}


def _lay_out_difference(shape: Shape) -> list[Grid]:
    if not shape["rows"]:
        note = f"Nothing to show: it needs rows with U = G and a rule under both {QUESTION_FORM} and {TITLE_FORM}."
        return [Grid(header=[], rows=[], notes=[note])]
    rows = [
        [row["selector"], row["rule"], str(row["n"]), cutoff]
        + [share(row["returned"][form][cutoff] / row["n"]) for form in (QUESTION_FORM, TITLE_FORM)]
        + [estimated(row, cutoff, row["difference"][cutoff]), str(row["unverifiable"])]
        for row in shape["rows"]
        for cutoff in cutoffs_of(row["difference"])
    ]
    header = ["selector", "rule", "n", "at", "R(question)", "R(title)", "difference [95 %]", "unverifiable"]
    return [Grid(caption="Records whose U is in G", header=header, rows=rows)]


RECALL: Final = Table(number=20, title="Judged object returned, by rule", build=_build_recall, lay_out=_lay_out_recall)
DIFFERENCE: Final = Table(
    number=22,
    title="Judged object returned: question against title",
    build=_build_difference,
    lay_out=_lay_out_difference,
)
