"""Table 19: why the selected object is not within the cutoff, as far as the stored lists show it."""

from __future__ import annotations

from typing import Any, Final

from rop_otel.study.tables.study_table import Grid, Shape, Table, cutoffs_of
from rop_otel.study.tables.table_context import Context


def _build(context: Context) -> Shape:
    rows = []
    for group in context.groups:
        cohort = group.resolved
        for name in context.study.rankings:
            outcomes = [*context.judged(name).of(cohort)]
            missed = [outcome for outcome in outcomes if outcome.judged]
            nonmatch = sum(not outcome.rank and outcome.short for outcome in missed)
            unresolved = sum(not outcome.rank and not outcome.short for outcome in missed)
            at: dict[str, Any] = {}
            for cutoff in context.cutoffs:
                near = sum(outcome.rank > cutoff for outcome in missed)
                at[str(cutoff)] = {
                    "absent": near + nonmatch + unresolved,
                    "near": near,
                    "nonmatch": nonmatch,
                    "unresolved": unresolved,
                }
            rows.append(
                {
                    "selector": group.name,
                    "form": name.form,
                    "rule": name.rule,
                    "n": len(cohort),
                    "at": at,
                    "unverifiable": len(outcomes) - len(missed),
                    "run_status": str(context.judged(name).status(group.selectors)),
                }
            )
    return {"depth": context.study.depth, "rows": rows}


def _lay_out(shape: Shape) -> list[Grid]:
    rows = [
        [row["selector"], row["form"], row["rule"], str(row["n"]), cutoff]
        + [str(row["at"][cutoff][each]) for each in ("absent", "near", "nonmatch", "unresolved")]
        + [str(row["unverifiable"])]
        for row in shape["rows"]
        for cutoff in cutoffs_of(row["at"])
    ]
    header = ["selector", "form", "rule", "n", "at", "absent", f"up to {shape['depth']}", "nonmatch", "unresolved"]
    note = (
        f"A list shorter than {shape['depth']} that lacks the object is a nonmatch: its rule found no more. "
        "A full list cannot separate a lower rank from a nonmatch: unresolved."
    )
    return [Grid(header=[*header, "unverifiable"], rows=rows, notes=[note])]


PARTITION: Final = Table(number=19, title="Near, nonmatch and unresolved misses", build=_build, lay_out=_lay_out)
