"""``rop-otel study declare``: each run of a study as a sealed declaration with its records."""

from __future__ import annotations

from typing import Annotated

import typer

from rop_otel.cli.study.options import FolderArgument
from rop_otel.cli.terminal import say
from rop_otel.core.escapes import printable


def declare(
    folder: FolderArgument,
    out: Annotated[str, typer.Option("--out", metavar="FOLDER", help="Where a folder for each run is made.")],
    cutoff: Annotated[
        int | None, typer.Option(help="How many the reader sees; 5 by default, if so many are stored.")
    ] = None,
) -> None:
    """Write a sealed declaration and records for every selector, query form and rule."""
    from rop_otel.study.declaring import RECORDS_FILE, declare_study  # imported here: --help need not wait for it
    from rop_otel.study.frozen_study import read_study
    from rop_otel.study.tables.table_context import READER

    study = read_study(folder)
    places = declare_study(study, out, cutoff=min(READER, study.depth) if cutoff is None else cutoff)
    first = places[0]
    say(f"Sealed {len(places)} declarations in {printable(out)}. Now, for each:")
    say(f"rop-otel evaluate {printable(str(first))} --records {printable(str(first.with_name(RECORDS_FILE)))}")
