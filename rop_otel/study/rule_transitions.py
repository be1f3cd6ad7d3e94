"""Transitions: what becomes of each row from one handoff rule to another, with McNemar's exact test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rop_otel.errors import ConfigurationError
from rop_otel.study.frozen_study import RankingName
from rop_otel.study.planned_rows import Group, PlannedRow
from rop_otel.study.tables.study_table import Grid, cutoffs_of, estimated
from rop_otel.study.tables.table_context import Context, Share, clusters

KINDS: Final = {
    (True, True): "kept",
    (False, True): "recovered",
    (True, False): "lost",
    (False, False): "missed_by_both",
}
"""What becomes of a row, by whether the first rule found it, and the second."""

STANDING_FIELD: Final = "standing"
"""The group of how selection and judged objects stand to each other, which is no field of a question."""

_DIGITS: Final = 6

_Pair = tuple[RankingName, RankingName]


def transitions(
    context: Context, *, before: str | None, after: str | None, form: str | None = None, group: str | None = None
) -> dict[str, Any]:
    """Return the transitions between rules under the same query form.

    Args:
        context: The study.
        before: The first rule; None for each.
        after: The second rule; None for each that stands behind the first, or for all others where the first is given.
        form: The query form; None for each.
        group: Field of a question by which rows are also counted apart; None for none.

    Raises:
        ConfigurationError: A rule, form or field is not there.
    """
    names = context.study.rankings
    _check("--form", form, [name.form for name in names])
    here = [name for name in names if form in (None, name.form)]
    _check("--from", before, [name.rule for name in here])
    _check("--to", after, [name.rule for name in here])
    if before is not None and before == after:
        raise ConfigurationError(f"--from and --to are both {before!r}: nothing changes")
    if group is not None:
        _check("--group", group, [STANDING_FIELD, *(field for row in context.study.rows for field in row.fields)])
    pairs = [*_pairs(here, before, after)]
    found = [_Part.of(context, pairs, each.name, value, rows) for each, value, rows in _parts(context, group)]
    return {
        **context.choices(),
        "group": group,
        "transitions": [part.transition(context, pair) for pair in pairs for part in found],
    }


def _check(option: str, given: str | None, known: Sequence[str]) -> None:
    if given is not None and given not in known:
        there = ", ".join(sorted(set(known)))
        raise ConfigurationError(f"{option} {given!r}: it is not among {there}")


def _pairs(names: Sequence[RankingName], before: str | None, after: str | None) -> Iterator[_Pair]:
    for place, first in enumerate(names):
        for other, second in enumerate(names):
            if first.form != second.form or first.rule == second.rule:
                continue
            if (before is None and after is None and place > other) or (before or first.rule) != first.rule:
                continue
            if after in (None, second.rule):
                yield first, second


def _parts(context: Context, field: str | None) -> Iterator[tuple[Group, str | None, tuple[PlannedRow, ...]]]:
    """Yield the rows of each selector whose selection resolves and, behind them, by each value of a field."""
    for group in context.groups:
        rows = group.resolved
        yield group, None, rows
        if field is not None:
            for value in sorted({_value(row, field) for row in rows}):
                yield group, value, tuple(row for row in rows if _value(row, field) == value)


def _value(row: PlannedRow, field: str) -> str:
    if field == STANDING_FIELD:
        return str(row.standing)
    value = row.fields.get(field)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Rows that are counted together, and by how much rules differ on them."""

    selector: str
    value: str | None
    rows: tuple[PlannedRow, ...]
    differences: Mapping[tuple[_Pair, int], Share]

    @classmethod
    def of(
        cls, context: Context, pairs: Sequence[_Pair], selector: str, value: str | None, rows: tuple[PlannedRow, ...]
    ) -> _Part:
        """Return the part; all intervals are made at once, since the same questions are drawn for each."""
        found = {name: [*context.judged(name).of(rows)] for pair in pairs for name in pair}
        columns = {
            (name, cutoff): [outcome.found(cutoff) for outcome in outcomes]
            for name, outcomes in found.items()
            for cutoff in context.cutoffs
        }
        differences = context.differences(
            rows,
            {(pair, k): (columns[pair[0], k], columns[pair[1], k]) for pair in pairs for k in context.cutoffs},
        )
        return cls(selector=selector, value=value, rows=rows, differences=differences)

    def transition(self, context: Context, pair: _Pair) -> dict[str, Any]:
        """Return what becomes of these rows from one rule to another."""
        first, second = pair
        outcomes = list(zip(context.judged(first).of(self.rows), context.judged(second).of(self.rows), strict=True))
        differences = {cutoff: self.differences[pair, cutoff] for cutoff in context.cutoffs}
        at = {
            str(cutoff): _at([(a.found(cutoff), b.found(cutoff)) for a, b in outcomes], differences[cutoff])
            for cutoff in context.cutoffs
        }
        return {
            "selector": self.selector,
            "form": first.form,
            "from": first.rule,
            "to": second.rule,
            "group": self.value,
            "n": len(self.rows),
            "clusters": clusters(self.rows),
            "at": at,
            **context.interval_fields(differences),
        }


def _at(pairs: Sequence[tuple[bool | None, bool | None]], difference: Share) -> dict[str, Any]:
    counts = {kind: pairs.count(key) for key, kind in KINDS.items()}
    return {
        **counts,
        "unverifiable": difference.lost,
        "difference": difference.rate,
        "p": mcnemar(counts["recovered"], counts["lost"]),
    }


def mcnemar(recovered: int, lost: int) -> float:
    """Return the two-sided p value of McNemar's exact test; 1 where no row changes.

    It takes every row as independent: where a question has several rows, read the interval instead.

    >>> mcnemar(0, 0), mcnemar(24, 2)
    (1.0, 1.04904e-05)
    """
    if not recovered + lost:
        return 1.0
    from scipy.stats import binomtest  # an extra, imported where it is used

    return float(f"{binomtest(recovered, recovered + lost).pvalue:.{_DIGITS}g}")


def lay_out(found: Mapping[str, Any]) -> list[Grid]:
    """Return transitions as a grid."""
    rows = [
        [
            *(row["selector"], *([] if found["group"] is None else [row["group"] or "–"])),
            *(row["form"], row["from"], row["to"], cutoff, str(row["n"])),
            *(str(row["at"][cutoff][kind]) for kind in (*KINDS.values(), "unverifiable")),
            *(f"{row['at'][cutoff]['p']:.2g}", estimated(row, cutoff, row["at"][cutoff]["difference"])),
        ]
        for row in found["transitions"]
        for cutoff in cutoffs_of(row["at"])
    ]
    grouped = [] if found["group"] is None else [found["group"]]
    header = ["selector", *grouped, "form", "from", "to", "at", "n", "kept", "recovered", "lost", "missed by both"]
    header += ["unverifiable", "McNemar p", "difference [95 %]"]
    notes = ["The difference is that of the shares found. McNemar's exact test takes every row as independent."]
    return [Grid(caption="", header=header, rows=rows, notes=notes)]
