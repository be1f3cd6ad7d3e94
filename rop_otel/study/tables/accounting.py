"""Table 4: every planned row, before anything is scored, and what became of it in each run."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from rop_otel.study.planned_rows import Standing
from rop_otel.study.tables.study_table import Grid, Shape, Table
from rop_otel.study.tables.table_context import Context

_WORDS: Final = {
    Standing.NO_SELECTION: "no selection",
    Standing.UNRESOLVED: "not in corpus",
    Standing.SAME: "U = G",
    Standing.DIFFERENT: "U ≠ G",
    Standing.NO_TRACE: "without G",
    Standing.TRACE_UNRESOLVED: "G not in corpus",
}

_MISPLACED: Final = ("duplicates", "unexpected")


def _build(context: Context) -> Shape:
    rows = []
    for group in context.groups:
        found = Counter(row.standing for row in group.rows)
        standings = {str(standing): found[standing] for standing in Standing}
        rows.append({"selector": group.name, "planned": len(group.rows), **standings})
    return {"rows": rows, "runs": [*_runs(context)]}


def _runs(context: Context) -> list[dict[str, Any]]:
    runs = []
    for name in context.study.rankings:
        judged = context.judged(name)
        for selector, report in judged.reports.items():
            runs.append(
                {
                    "selector": selector,
                    "form": name.form,
                    "rule": name.rule,
                    "planned": report.expected,
                    "run_status": str(report.run_status),
                    "verdicts": {verdict: count for verdict, count in report.verdicts.items() if count},
                    "duplicates": len(report.accounts.duplicates),
                    "unexpected": len(report.accounts.unexpected),
                    "not_run": dict(sorted(judged.reasons[selector].items())),
                }
            )
    return runs


def _lay_out(shape: Shape) -> list[Grid]:
    rows = [[row["selector"], str(row["planned"]), *(str(row[each]) for each in _WORDS)] for row in shape["rows"]]
    runs = [
        [
            run["selector"],
            run["form"],
            run["rule"],
            str(run["planned"]),
            run["run_status"],
            _of(run["verdicts"]),
            _rest(run),
        ]
        for run in shape["runs"]
    ]
    return [
        Grid(header=["selector", "planned", *_WORDS.values()], rows=rows),
        Grid(
            caption="Every run over all planned rows, at the declared cutoff",
            header=["selector", "form", "rule", "planned", "status", "verdicts", "not run"],
            rows=runs,
        ),
    ]


def _rest(run: Shape) -> str:
    return ", ".join(filter(None, [_of(run["not_run"]), *(f"{run[each]} {each}" for each in _MISPLACED if run[each])]))


def _of(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


ACCOUNTING: Final = Table(number=4, title="Accounting of every planned row", build=_build, lay_out=_lay_out)
