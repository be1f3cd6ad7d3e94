"""Reports of a study in every form that they are printed in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rop_otel.core.escapes import printable_json
from rop_otel.study.compare import compare_with_paper, lay_out_comparison
from rop_otel.study.rule_transitions import lay_out
from rop_otel.study.tables.every_table import build_tables
from rop_otel.study.tables.study_table import Table
from rop_otel.study.tables.table_context import Context
from rop_otel.study.views.figures import figures
from rop_otel.study.views.plain_text import markdown, text
from rop_otel.study.views.section import Section
from rop_otel.study.views.study_page import Figure, page

Kind = Literal["text", "json", "markdown", "html"]


def tables_report(context: Context, tables: Sequence[Table], *, kind: Kind, compare: bool = False) -> str:
    """Return tables in one of the forms.

    Args:
        context: The study.
        tables: Which.
        kind: The form.
        compare: Whether the paper's figures stand beside ours.
    """
    found = build_tables(context, tables)
    sections = []
    for table in tables:
        grids = table.lay_out(found["tables"][str(table.number)])
        sections.append(Section(title=f"Table {table.number}. {table.title}", grids=grids))
    if compare:
        found["comparison"] = compare_with_paper(found["tables"], selector=context.whole.name)
        sections.append(Section(title="Beside the paper", grids=lay_out_comparison(found["comparison"])))
    plots = [*figures(context)] if kind == "html" else []
    return _report(found, sections, plots, kind)


def transitions_report(found: Mapping[str, Any], *, kind: Kind) -> str:
    """Return transitions in one of the forms."""
    return _report(found, [Section(title="Transitions", grids=lay_out(found))], [], kind)


def _report(found: Mapping[str, Any], sections: Sequence[Section], plots: Sequence[Figure], kind: Kind) -> str:
    if kind == "json":
        return printable_json(json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1)) + "\n"
    head = _head(found)
    if kind == "html":
        return page(head, plots, sections)
    return markdown(head, sections) if kind == "markdown" else text(head, sections)


def _head(found: Mapping[str, Any]) -> list[str]:
    made = found["intervals"]
    head = [f"{found['planned']} planned rows, lists stored to depth {found['depth']}."]
    if made["draws"]:
        head.append(
            f"95 % intervals: bootstrap over questions, all rows of a question together, {made['draws']:,} samples, "
            f"seed {made['seed']}."
        )
    if made["single_rows"]:
        head.append("Every question has one row, so that a bootstrap over questions is one over rows.")
    return [*head, *(f"Note: {note}." for note in found["notes"])]
