"""``rop-otel study tables``: the paper's tables from frozen rankings."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rop_otel.cli.study.options import (
    CutoffOption,
    FolderArgument,
    Format,
    FormatOption,
    IntervalsOption,
    OutOption,
    RowLevelOption,
    SeedOption,
    open_context,
    output,
)


class Published(StrEnum):
    """Whose figures stand beside ours."""

    PAPER = "paper"


def tables(
    folder: FolderArgument,
    table: Annotated[
        list[int] | None,
        typer.Option("--table", metavar="N...", help="Tables by their numbers in the paper; else all."),
    ] = None,
    at: CutoffOption = None,
    intervals: IntervalsOption = 10_000,
    seed: SeedOption = 1,
    row_level: RowLevelOption = False,
    compare: Annotated[
        Published | None, typer.Option(help="Put published figures beside ours, and say why they may differ.")
    ] = None,
    output_format: FormatOption = Format.TEXT,
    out: OutOption = None,
) -> None:
    """Print the paper's tables, recomputed from frozen rankings alone.

    Every cell is a ROP run over all planned rows: a row that is lost makes the run unverifiable, not smaller.
    """
    from rop_otel.study.study_report import tables_report  # imported here: --help need not wait for it
    from rop_otel.study.tables.every_table import chosen

    wanted = chosen(table or ())
    context = open_context(folder, at=at, intervals=intervals, seed=seed, row_level=row_level)
    output(tables_report(context, wanted, kind=output_format.value, compare=compare is not None), out)
