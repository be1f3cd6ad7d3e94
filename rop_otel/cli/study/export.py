"""``rop-otel study export``: frozen rankings written for the tools of others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.terminal import complain, say


class ForeignFormat(StrEnum):
    """What is written."""

    TREC = "trec"
    RANX = "ranx"


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="What study rank wrote.")],
    out: Annotated[Path, typer.Option(metavar="FILE", show_default=False, help="The run file to write.")],
    form: Annotated[str, typer.Option(show_default=False, help="Query form.")],
    rule: Annotated[str, typer.Option(show_default=False, help="Handoff rule.")],
    to: Annotated[ForeignFormat, typer.Option(help="trec: a run file; ranx: JSON.")] = ForeignFormat.TREC,
    selector: Annotated[str | None, typer.Option(help="Whose rows, where there are several selectors.")] = None,
) -> None:
    """Write the rankings of one query form and rule as a run of TREC or ranx.

    Exit code 0: every planned row was written; 1: some have no ranking, and are counted; 2: something given cannot be
    used.
    """
    from rop_otel.study.exporting import export_run  # imported here: --help need not wait for it

    found = export_run(folder, out, kind=to.value, form=form, rule=rule, selector=selector)
    say(f"{out}: {found.rows:,} rankings")
    if found.renumbered:
        say(f"{found.renumbered:,} of them have scores by place, since their own would not keep their order")
    if found.left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.left_out.items()))
        complain(f"{found.left_out.total():,} planned rows have no ranking to write: {reasons}")
        raise typer.Exit(1)
