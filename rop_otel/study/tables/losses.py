"""Tables 5, 6 and 14: how often the selected object is missing by rule, by selector, and how often it is returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rop_otel.study.planned_rows import Group, PlannedRow, Standing
from rop_otel.study.tables.study_table import Grid, Shape, Table, counted, cutoffs_of, estimated
from rop_otel.study.tables.table_context import Context, Share, clusters


def _build_losses(context: Context) -> Shape:
    return {"rows": [row for group in context.groups for row in _losses(context, group)]}


def _losses(context: Context, group: Group) -> list[dict[str, Any]]:
    rows, same = group.resolved, group.of(Standing.SAME)
    shares = missing_shares(context, rows)
    found = []
    for name in context.study.rankings:
        judged = context.judged(name)
        here = {cutoff: shares[name, cutoff] for cutoff in context.cutoffs}
        missing_same = {
            str(cutoff): sum(outcome.found(cutoff) is False for outcome in judged.of(same))
            for cutoff in context.cutoffs
        }
        found.append(
            {
                "selector": group.name,
                "form": name.form,
                "rule": name.rule,
                "n": len(rows),
                "planned": len(group.rows),
                "missing": {str(cutoff): each.count for cutoff, each in here.items()},
                "rate": {str(cutoff): each.rate for cutoff, each in here.items()},
                **context.interval_fields(here),
                "clusters": clusters(rows),
                "unverifiable": here[context.reader].lost,
                "same": {"n": len(same), "missing": missing_same} if same else None,
                "run_status": str(judged.status(group.selectors)),
            }
        )
    return found


def missing_shares(context: Context, rows: Sequence[PlannedRow]) -> dict[tuple[Any, int], Share]:
    """Return by ranking and cutoff what share of some rows misses its selected object."""
    return context.shares(
        rows,
        {
            (name, cutoff): [_negated(outcome.found(cutoff)) for outcome in context.judged(name).of(rows)]
            for name in context.study.rankings
            for cutoff in context.cutoffs
        },
    )


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def _lay_out_losses(shape: Shape) -> list[Grid]:
    cutoffs = cutoffs_of(shape["rows"][0]["missing"])
    return [
        Grid(
            header=["selector", "form", "rule", *(f"missing at {cutoff}" for cutoff in cutoffs)]
            + [f"rate at {cutoff} [95 %]" for cutoff in cutoffs]
            + ["questions", "status"],
            rows=[
                [row["selector"], row["form"], row["rule"]]
                + [counted(row["missing"][cutoff], row["n"], row["unverifiable"]) for cutoff in cutoffs]
                + [estimated(row, cutoff, row["rate"][cutoff], lost=row["unverifiable"]) for cutoff in cutoffs]
                + [str(row["clusters"]), row["run_status"]]
                for row in shape["rows"]
            ],
            notes=_notes(shape),
        )
    ]


def _notes(shape: Shape) -> list[str]:
    rows, notes = shape["rows"], []
    if all(row["clusters"] == row["n"] for row in rows):
        notes.append("Every question has one row here, so that clusters are single rows.")
    elif any(row["clusters"] == row["n"] for row in rows):
        notes.append("Where there are as many questions as rows, clusters are single rows.")
    if any(count == 0 for row in rows for count in row["missing"].values()):
        notes.append(
            "Where no row misses, the bootstrap's interval is a point: it cannot show what was not seen. By the exact "
            "binomial (two-sided, 95 %) the share may be up to about 3.7 divided by the number of questions."
        )
    if any(row["unverifiable"] for row in rows):
        notes.append("A range counts rows without a usable list as found, then as missed; the interval covers both.")
    return notes


def _build_by_selector(context: Context) -> Shape:
    rows = []
    for group in context.groups:
        cohort = group.resolved
        for form in dict.fromkeys(name.form for name in context.study.rankings):
            names = [name for name in context.study.rankings if name.form == form]
            missing, lost = {}, {}
            for cutoff in context.cutoffs:
                found = {name.rule: [each.found(cutoff) for each in context.judged(name).of(cohort)] for name in names}
                missing[str(cutoff)] = {rule: values.count(False) for rule, values in found.items()}
                lost = {rule: values.count(None) for rule, values in found.items()}
            rows.append(
                {"selector": group.name, "form": form, "n": len(cohort), "missing": missing, "unverifiable": lost}
            )
    return {"cutoff": context.reader, "rows": rows}


def _lay_out_by_selector(shape: Shape) -> list[Grid]:
    cutoff, grids = str(shape["cutoff"]), []
    for form in dict.fromkeys(row["form"] for row in shape["rows"]):
        rows = [row for row in shape["rows"] if row["form"] == form]
        cells = [
            [row["selector"], str(row["n"])]
            + [_range(count, row["unverifiable"][rule]) for rule, count in row["missing"][cutoff].items()]
            for row in rows
        ]
        header = ["selector", "n", *rows[0]["missing"][cutoff]]
        grids.append(Grid(caption=f"Query form {form}, missing at {cutoff}", header=header, rows=cells))
    return grids


def _range(count: int, lost: int) -> str:
    return str(count) if not lost else f"{count}–{count + lost}"


def _build_returns(context: Context) -> Shape:
    rows = []
    for group in context.groups:
        cohort = group.resolved
        columns = {
            (name, cutoff): [outcome.found(cutoff) for outcome in context.judged(name).of(cohort)]
            for name in context.study.rankings
            for cutoff in context.cutoffs
        }
        shares = context.shares(cohort, columns)
        for name in context.study.rankings:
            here = {cutoff: shares[name, cutoff] for cutoff in context.cutoffs}
            rows.append(
                {
                    "selector": group.name,
                    "form": name.form,
                    "rule": name.rule,
                    **context.returned_fields(cohort, here),
                    "unverifiable": here[context.reader].lost,
                    "run_status": str(context.judged(name).status(group.selectors)),
                }
            )
    return {"rows": rows}


def lay_out_returns(shape: Shape) -> list[Grid]:
    """Lay out rows of returned counts with their rates."""
    if not shape["rows"]:
        return []
    cutoffs = cutoffs_of(shape["rows"][0]["returned"])
    return [
        Grid(
            header=["selector", "form", "rule", "n", *(f"R@{cutoff} [95 %]" for cutoff in cutoffs), "unverifiable"],
            rows=[
                [row["selector"], row["form"], row["rule"], str(row["n"])]
                + [estimated(row, cutoff, row["rate"][cutoff], lost=row["unverifiable"]) for cutoff in cutoffs]
                + [str(row["unverifiable"])]
                for row in shape["rows"]
            ],
        )
    ]


LOSSES: Final = Table(number=5, title="Selected object missing, by rule", build=_build_losses, lay_out=_lay_out_losses)
BY_SELECTOR: Final = Table(number=6, title="Misses by selector", build=_build_by_selector, lay_out=_lay_out_by_selector)
RETURNS: Final = Table(
    number=14, title="Selected object returned, by cutoff", build=_build_returns, lay_out=lay_out_returns
)
