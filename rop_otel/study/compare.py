"""Published figures beside ours, each with the reasons for which they may differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rop_otel.study.paper import PUBLISHED, REASONS, Published
from rop_otel.study.tables.study_table import Grid, Shape, share

_DIGITS: Final = 4


def compare_with_paper(tables: Mapping[str, Shape], *, selector: str) -> dict[str, Any]:
    """Return the paper's figures of some tables beside ours.

    A figure that nothing of ours stands beside is left out: its rule, form or cutoff is not there.

    Args:
        tables: Ours by number, as JSON.
        selector: Whose rows are compared.
    """
    rows: list[dict[str, Any]] = []
    for figure in sorted(PUBLISHED, key=lambda figure: figure.table):
        shape = tables.get(str(figure.table))
        row = None if shape is None else _row(shape, figure, selector)
        # Where there are rows with U = G, they are what the paper's table 5 is of.
        aligned = None if row is None else row.get("same")
        found = row if aligned is None else aligned
        count = None if found is None else _count(found, figure)
        if found is not None and count is not None and found["n"]:
            rows.append(
                {
                    "table": figure.table,
                    "form": figure.form,
                    "rule": figure.rule,
                    "measure": figure.measure,
                    "at": figure.at,
                    "paper": [round(figure.low, _DIGITS), round(figure.high, _DIGITS)],
                    "ours": round(count / found["n"], _DIGITS),
                    "n": found["n"],
                    "why": [*_why(figure, aligned=aligned is not None)],
                }
            )
    return {"with": "paper", "rows": rows, "reasons": {name: REASONS[name] for row in rows for name in row["why"]}}


def _row(shape: Mapping[str, Any], figure: Published, selector: str) -> Mapping[str, Any] | None:
    """Return the row of ours that a figure stands beside; None where there is none."""
    wanted = {"selector": selector, "form": figure.form, "rule": figure.rule}
    fitting = (row for row in shape["rows"] if all(row.get(key, value) == value for key, value in wanted.items()))
    return next((row for row in fitting if _count(row, figure) is not None), None)


def _count(row: Mapping[str, Any], figure: Published) -> int | None:
    cutoff = str(figure.at)
    if "at" in row:
        found = row["at"].get(cutoff, {}).get(figure.measure)
    else:
        found = row[figure.measure]
        # Where two forms stand beside each other, and where a row has a cell for each rule.
        found = found.get(figure.form, found).get(cutoff)
        found = found.get(figure.rule) if isinstance(found, Mapping) else found
    return found if isinstance(found, int) else None


def _why(figure: Published, *, aligned: bool) -> Iterator[str]:
    yield "corpus"
    if figure.table != 13:  # the title check has no selections
        yield "selections"
    if figure.table in (5, 6) and not aligned:
        yield "cohort"
    if figure.rule == "bm25_title":
        yield "title_index"
    if figure.rule in REASONS:
        yield figure.rule


def lay_out_comparison(found: Mapping[str, Any]) -> list[Grid]:
    """Return the comparison as a grid, with the reasons below."""
    rows = []
    for row in found["rows"]:
        low, high = row["paper"]
        paper = share(low) if low == high else f"{share(low)}–{share(high)}"
        named = [str(row["table"]), row["form"], row["rule"], row["measure"].replace("_", " "), str(row["at"])]
        rows.append([*named, paper, share(row["ours"]), str(row["n"]), ", ".join(row["why"])])
    if not rows:
        return [Grid(header=[], rows=[], notes=["None of the paper's figures has a rule, form and cutoff of these."])]
    header = ["table", "form", "rule", "measure", "at", "paper", "ours", "n", "why they may differ"]
    notes = [f"{name}: {why}." for name, why in found["reasons"].items()]
    return [Grid(header=header, rows=rows, notes=notes)]
