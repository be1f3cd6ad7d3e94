"""Tables 8, 16, 17 and 18: selected and judged object in the same lists, where they are not the same object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rop_otel.study.frozen_study import RankingName
from rop_otel.study.judging import Outcome
from rop_otel.study.planned_rows import Group, PlannedRow, Standing
from rop_otel.study.tables.study_table import Grid, Shape, Table, cutoffs_of, estimated
from rop_otel.study.tables.table_context import Context, clusters

TITLE_FORM: Final = "title"
"""The query form of the paper's selected-name test."""

OUTCOMES: Final = {
    (True, True): "both",
    (True, False): "selected_only",
    (False, True): "trace_only",
    (False, False): "neither",
}
WORDS: Final = {"both": "both", "selected_only": "U only", "trace_only": "G only", "neither": "neither"}

OWN_TABLE_FIELD: Final = "linked_from_table"
_NOTHING: Final = "Nothing to show: no record has a U and a G in the corpus that differ, or no such query was run."


def label(outcome: Outcome, cutoff: int) -> str | None:
    """Return which of the two objects are within a cutoff; None for a lost row."""
    selected, traced = outcome.found(cutoff), outcome.trace_found(cutoff)
    return None if selected is None or traced is None else OUTCOMES[selected, traced]


def _different(outcome: Outcome, cutoff: int) -> bool | None:
    found = label(outcome, cutoff)
    return None if found is None else found in ("selected_only", "trace_only")


def _build_joint(context: Context) -> Shape:
    return {"rows": [row for group in context.groups for row in _joint(context, group, context.study.rankings)]}


def _joint(context: Context, group: Group, names: Sequence[RankingName]) -> list[dict[str, Any]]:
    rows = group.of(Standing.DIFFERENT)
    of = len(group.of(Standing.SAME, Standing.DIFFERENT))
    own = [row for row in rows if row.fields.get(OWN_TABLE_FIELD) is not False]
    shares = context.shares(
        rows,
        {
            (name, cutoff): [_different(outcome, cutoff) for outcome in context.judged(name).of(rows)]
            for name in names
            for cutoff in context.cutoffs
        },
    )
    return [
        {
            "selector": group.name,
            "form": name.form,
            "rule": name.rule,
            "n": len(rows),
            "of": of,
            "at": _at(context, name, rows),
            "different": {str(cutoff): shares[name, cutoff].count for cutoff in context.cutoffs},
            **context.interval_fields({cutoff: shares[name, cutoff] for cutoff in context.cutoffs}),
            "clusters": clusters(rows),
            "unverifiable": shares[name, context.reader].lost,
            "own_table": None if len(own) == len(rows) else {"n": len(own), "at": _at(context, name, own)},
            "run_status": str(context.judged(name).status(group.selectors)),
        }
        for name in names
    ]


def _at(context: Context, name: RankingName, rows: Sequence[PlannedRow]) -> dict[str, dict[str, int]]:
    found = {}
    for cutoff in context.cutoffs:
        labels = [label(outcome, cutoff) for outcome in context.judged(name).of(rows)]
        found[str(cutoff)] = {each: labels.count(each) for each in OUTCOMES.values()}
    return found


def _lay_out_joint(shape: Shape) -> list[Grid]:
    if not any(row["n"] for row in shape["rows"]):
        return [_nothing()]
    rows = [
        [row["selector"], row["form"], row["rule"], f"{row['n']} of {row['of']}", cutoff]
        + [str(row["at"][cutoff][each]) for each in WORDS]
        + [str(row["different"][cutoff]), _estimated(row, cutoff), str(row["unverifiable"])]
        for row in shape["rows"]
        for cutoff in cutoffs_of(row["at"])
    ]
    header = ["selector", "form", "rule", "n", "at", *WORDS.values(), "different", "rate [95 %]", "unverifiable"]
    grids = [Grid(caption="Records whose U and G differ, of those with both in the corpus", header=header, rows=rows)]
    own = [
        [row["selector"], row["form"], row["rule"], str(row["own_table"]["n"]), cutoff]
        + [str(row["own_table"]["at"][cutoff][each]) for each in WORDS]
        for row in shape["rows"]
        if row["own_table"] is not None
        for cutoff in cutoffs_of(row["own_table"]["at"])
    ]
    if own:
        header = ["selector", "form", "rule", "n", "at", *WORDS.values()]
        grids.append(Grid(caption="Without those whose U lies in another table", header=header, rows=own))
    return grids


def _estimated(row: Shape, cutoff: str) -> str:
    rate = row["different"][cutoff] / row["n"] if row["n"] else None
    return estimated(row, cutoff, rate, lost=row["unverifiable"])


def _nothing() -> Grid:
    return Grid(header=[], rows=[], notes=[_NOTHING])


def _titled(context: Context) -> list[RankingName]:
    return [name for name in context.study.rankings if name.form == TITLE_FORM]


def _build_stacks(context: Context) -> Shape:
    rows = _joint(context, context.whole, _titled(context))
    kept = (
        "selector",
        "form",
        "rule",
        "n",
        "of",
        "at",
        "different",
        "interval",
        "row_interval",
        "clusters",
        "unverifiable",
    )
    return {"cutoff": context.reader, "rows": [{key: row[key] for key in kept if key in row} for row in rows]}


def _lay_out_stacks(shape: Shape) -> list[Grid]:
    cutoff = str(shape["cutoff"])
    if not any(row["n"] for row in shape["rows"]):
        return [_nothing()]
    rows = [
        [
            *(row["rule"], str(row["n"]), *(str(row["at"][cutoff][each]) for each in WORDS)),
            *(str(row["different"][cutoff]), _estimated(row, cutoff)),
        ]
        for row in shape["rows"]
    ]
    caption = f"Query form {TITLE_FORM}, at {cutoff}"
    return [Grid(caption=caption, header=["rule", "n", *WORDS.values(), "different labels", "rate [95 %]"], rows=rows)]


def _build_complete(context: Context) -> Shape:
    kept = ("selector", "form", "rule", "n", "at", "unverifiable")
    rows = [row for group in context.groups for row in _joint(context, group, _titled(context))]
    return {"rows": [{key: row[key] for key in kept if key in row} for row in rows], "questions": _questions(context)}


def _questions(context: Context) -> int:
    return clusters(context.whole.of(Standing.DIFFERENT))


def _lay_out_complete(shape: Shape) -> list[Grid]:
    if not any(row["n"] for row in shape["rows"]):
        return [_nothing()]
    selectors = list(dict.fromkeys(row["selector"] for row in shape["rows"]))
    cells = {
        (row["rule"], cutoff, row["selector"]): "/".join(str(at[each]) for each in WORDS)
        for row in shape["rows"]
        for cutoff, at in row["at"].items()
    }
    keys = sorted({(rule, cutoff) for rule, cutoff, _ in cells}, key=lambda key: int(key[1]))
    rules = list(dict.fromkeys(row["rule"] for row in shape["rows"]))
    rows = [
        [rule, cutoff, *(cells[rule, cutoff, selector] for selector in selectors)]
        for rule in rules
        for each, cutoff in keys
        if each == rule
    ]
    note = f"both/U only/G only/neither; {shape['questions']} questions."
    return [Grid(caption=f"Query form {TITLE_FORM}", header=["rule", "at", *selectors], rows=rows, notes=[note])]


def _build_different(context: Context) -> Shape:
    kept = ("selector", "form", "rule", "n", "different", "interval", "row_interval", "unverifiable")
    rows = _joint(context, context.whole, _titled(context))
    return {"rows": [{key: row[key] for key in kept if key in row} for row in rows]}


def _lay_out_different(shape: Shape) -> list[Grid]:
    if not any(row["n"] for row in shape["rows"]):
        return [_nothing()]
    cutoffs = cutoffs_of(shape["rows"][0]["different"])
    rows = [
        [row["rule"], str(row["n"]), *(str(row["different"][cutoff]) for cutoff in cutoffs)] for row in shape["rows"]
    ]
    return [Grid(caption=f"Query form {TITLE_FORM}", header=["rule", "n", *(f"at {k}" for k in cutoffs)], rows=rows)]


JOINT: Final = Table(number=8, title="Both, U only, G only, neither", build=_build_joint, lay_out=_lay_out_joint)
STACKS: Final = Table(
    number=16, title="Both, U only, G only, neither, by rule", build=_build_stacks, lay_out=_lay_out_stacks
)
COMPLETE: Final = Table(
    number=17, title="The same by selector and cutoff", build=_build_complete, lay_out=_lay_out_complete
)
DIFFERENT: Final = Table(
    number=18, title="Records with different labels", build=_build_different, lay_out=_lay_out_different
)
