"""Table 13: every page of the corpus asked for by its own title, as it was counted while the rankings were frozen."""

from __future__ import annotations

from typing import Final

import msgspec

from rop_otel.errors import InputError
from rop_otel.study.frozen_files import CORPUS_FILE
from rop_otel.study.tables.study_table import Grid, Shape, Table, cutoffs_of
from rop_otel.study.tables.table_context import Context


class _Checked(msgspec.Struct, frozen=True):
    omitted: dict[str, int]
    empty: int = 0


class _TitleCheck(msgspec.Struct, frozen=True):
    of: int
    rules: dict[str, _Checked]


class _Corpus(msgspec.Struct, frozen=True):
    title_check: _TitleCheck | None = None
    collision_count: int | None = None


def _build(context: Context) -> Shape:
    try:
        corpus = msgspec.convert(context.study.corpus(), _Corpus)
    except msgspec.ValidationError as error:
        raise InputError(f"no account of a corpus: {error}", file=context.study.files.place(CORPUS_FILE)) from None
    checked = corpus.title_check
    rules = {} if checked is None else checked.rules
    return {
        "collisions": corpus.collision_count,
        "rows": [
            {"rule": rule, "n": checked.of, "missing": found.omitted, "empty_queries": found.empty}
            for rule, found in rules.items()
            if checked is not None
        ],
    }


def _lay_out(shape: Shape) -> list[Grid]:
    rows = shape["rows"]
    if not rows:
        why = "No title was looked up: rank with the rule title or bm25_title to have this counted."
        return [Grid(header=[], rows=[], notes=[why])]
    cutoffs = cutoffs_of(rows[0]["missing"])
    cells = [
        [row["rule"], str(row["n"]), *(f"{row['missing'][cutoff]:,}" for cutoff in cutoffs), str(row["empty_queries"])]
        for row in rows
    ]
    notes = [] if not shape["collisions"] else [f"{shape['collisions']:,} titles belong to more than one page each."]
    header = ["rule", "pages", *(f"missing at {cutoff}" for cutoff in cutoffs), "empty queries"]
    return [Grid(header=header, rows=cells, notes=notes)]


TITLE_CHECK: Final = Table(number=13, title="Pages not returned for their own title", build=_build, lay_out=_lay_out)
