"""``rop-otel study transitions``: what becomes of each row from one rule to another."""

from __future__ import annotations

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


def transitions(
    folder: FolderArgument,
    before: Annotated[str | None, typer.Option("--from", metavar="RULE", help="The first rule; else each.")] = None,
    after: Annotated[str | None, typer.Option("--to", metavar="RULE", help="The second rule; else each other.")] = None,
    form: Annotated[str | None, typer.Option(help="The query form; else each.")] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Count also by this field of the questions, or by standing (U against G)."),
    ] = None,
    at: CutoffOption = None,
    intervals: IntervalsOption = 10_000,
    seed: SeedOption = 1,
    row_level: RowLevelOption = False,
    output_format: FormatOption = Format.TEXT,
    out: OutOption = None,
) -> None:
    """Count the rows that are kept, recovered, lost and missed by both from one rule to another.

    With McNemar's exact test, and the paired bootstrap interval of the difference.
    """
    from rop_otel.study.rule_transitions import transitions as transitions_of
    from rop_otel.study.study_report import transitions_report  # imported here: --help need not wait for it

    context = open_context(folder, at=at, intervals=intervals, seed=seed, row_level=row_level)
    found = transitions_of(context, before=before, after=after, form=form, group=group)
    output(transitions_report(found, kind=output_format.value), out)
