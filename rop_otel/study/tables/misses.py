"""Tables 7 and 15: each miss with its ranks, and one record that two rules judge the other way round."""

from __future__ import annotations

from typing import Any, Final

from rop_otel.study.frozen_study import RankingName
from rop_otel.study.judging import Outcome
from rop_otel.study.planned_rows import PlannedRow, Standing
from rop_otel.study.tables.joint_tables import label
from rop_otel.study.tables.study_table import Grid, Shape, Table
from rop_otel.study.tables.table_context import Context

_MOST_SHOWN: Final = 40
_NONMATCH: Final = "nonmatch"
_UNKNOWN: Final = "unverifiable"


def _build_misses(context: Context) -> Shape:
    rows: list[dict[str, Any]] = []
    for form in dict.fromkeys(name.form for name in context.study.rankings):
        rows += _misses(context, form)
    return {"cutoff": context.reader, "depth": context.study.depth, "rows": rows}


def _misses(context: Context, form: str) -> list[dict[str, Any]]:
    """Return each selected object that a rule misses; records whose ranks agree by every rule stand together."""
    names = [name for name in context.study.rankings if name.form == form]
    together: dict[tuple[Any, ...], list[PlannedRow]] = {}
    for row in context.whole.resolved:
        outcomes = {name.rule: context.judged(name).outcomes[row.key] for name in names}
        if any(outcome.found(context.reader) is False for outcome in outcomes.values()):
            places = tuple((rule, _place(outcome)) for rule, outcome in outcomes.items())
            together.setdefault((row.selected_id, places), []).append(row)
    rows = []
    for (selected, places), records in together.items():
        ranks = {rule: place if isinstance(place, int) else None for rule, place in places if place != _UNKNOWN}
        rows.append(
            {
                "form": form,
                "selected_id": selected,
                "title": context.study.titles[selected],
                "rows": len(records),
                "missed_by": [rule for rule, rank in ranks.items() if rank is None or rank > context.reader],
                "ranks": ranks,
                **{kind: [rule for rule, place in places if place == kind] for kind in (_NONMATCH, _UNKNOWN)},
                "records": [{"selector": row.selector, "id": row.id} for row in records],
            }
        )
    return sorted(rows, key=lambda row: (-len(row["missed_by"]), row["title"], row["selected_id"]))


def _place(outcome: Outcome) -> int | str | None:
    """Return a rank, None where a full list lacks the object, or a word where more is known, or nothing."""
    if not outcome.judged:
        return _UNKNOWN
    return outcome.rank or (_NONMATCH if outcome.short else None)


def _lay_out_misses(shape: Shape) -> list[Grid]:
    grids = []
    for form in dict.fromkeys(row["form"] for row in shape["rows"]):
        rows = [row for row in shape["rows"] if row["form"] == form]
        rules = list(dict.fromkeys(rule for row in rows for rule in (*row["ranks"], *row[_UNKNOWN])))
        left = len(rows) - _MOST_SHOWN
        grids.append(
            Grid(
                caption=f"Query form {form}: objects that a rule misses at {shape['cutoff']}, with their ranks",
                header=["selected object", "rows", *rules],
                rows=[
                    [row["title"] or row["selected_id"], str(row["rows"])]
                    + [_rank(row, rule, shape["depth"]) for rule in rules]
                    for row in rows[:_MOST_SHOWN]
                ],
                notes=[f"and {left} more (in the JSON)"] if left > 0 else [],
            )
        )
    return grids


def _rank(row: Shape, rule: str, depth: int) -> str:
    for kind in (_NONMATCH, _UNKNOWN):
        if rule in row[kind]:
            return kind
    rank = row["ranks"].get(rule)
    return f">{depth}" if rank is None else str(rank)


def _build_example(context: Context) -> Shape:
    example = next(
        (
            (row, name, other)
            for row in context.whole.of(Standing.DIFFERENT)
            for name in context.study.rankings
            if _only(context, row, name) == "trace_only"
            for other in context.study.rankings
            if other.form == name.form and _only(context, row, other) == "selected_only"
        ),
        None,
    )
    if example is None:
        return {"cutoff": context.reader, "rows": []}
    row, *names = example
    ranks = []
    for name in names:
        outcome = context.judged(name).outcomes[row.key]
        found = {"rank": outcome.rank or None, "trace_rank": outcome.trace_rank or None}
        ranks.append({"rule": name.rule, **found, "result": _only(context, row, name)})
    record = {
        "selector": row.selector,
        "id": row.id,
        "form": names[0].form,
        "query": context.judged(names[0]).outcomes[row.key].query,
        "selected_id": row.selected_id,
        "gold_ids": list(row.gold_ids),
        "ranks": ranks,
    }
    return {"cutoff": context.reader, "rows": [record]}


def _only(context: Context, row: PlannedRow, name: RankingName) -> str | None:
    outcome: Outcome = context.judged(name).outcomes[row.key]
    found = label(outcome, context.reader)
    return found if found in _LABELS else None


def _lay_out_example(shape: Shape) -> list[Grid]:
    if not shape["rows"]:
        return [Grid(header=[], rows=[], notes=["No record has its labels turned round from one rule to another."])]
    [row] = shape["rows"]
    return [
        Grid(
            caption=f"{row['selector']} {row['id']}, query {row['query']!r}: U {row['selected_id']}, "
            f"G {', '.join(row['gold_ids'])}",
            header=["rule", "rank of U", "rank of G", f"at {shape['cutoff']}"],
            rows=[
                [each["rule"], str(each["rank"] or "–"), str(each["trace_rank"] or "–"), _LABELS[each["result"]]]
                for each in row["ranks"]
            ],
        )
    ]


_LABELS: Final = {"selected_only": "U only", "trace_only": "G only"}

MISSES: Final = Table(number=7, title="Each miss with its ranks", build=_build_misses, lay_out=_lay_out_misses)
EXAMPLE: Final = Table(number=15, title="A record with opposite labels", build=_build_example, lay_out=_lay_out_example)
