"""``rop-otel study import``: published formats read as our JSON Lines."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.terminal import complain, say

SHOWN = 20
"""Rows named on standard error; all are in ``problems.jsonl``."""


class PublishedFormat(StrEnum):
    """What is read."""

    HYBRIDQA = "hybridqa"
    OTTQA = "ottqa"
    TREC = "trec"
    RANX = "ranx"
    BEIR = "beir"


_Files = list[str] | None


def import_published(
    published: Annotated[PublishedFormat, typer.Argument(metavar="FORMAT", help="hybridqa, ottqa, trec, ranx, beir.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="Where our files are written.")],
    questions: Annotated[
        _Files, typer.Option(metavar="FILE...", help="dev.json or dev.traced.json; trec, ranx: query, tab, text.")
    ] = None,
    tables: Annotated[_Files, typer.Option(metavar="PATH...", help="The folder tables_tok, or a file of all.")] = None,
    passages: Annotated[
        _Files, typer.Option(metavar="PATH...", help="The folder request_tok, or a file of all.")
    ] = None,
    run: Annotated[_Files, typer.Option(metavar="FILE...", help="Rankings of trec or ranx.")] = None,
    qrels: Annotated[_Files, typer.Option(metavar="FILE...", help="Judgments of trec or ranx.")] = None,
    folder: Annotated[str | None, typer.Option(metavar="FOLDER", help="The folder of beir.")] = None,
    split: Annotated[str, typer.Option(help="Which of beir's judgments: qrels/SPLIT.tsv.")] = "test",
    form: Annotated[str, typer.Option(help="Query form that rankings are filed under.")] = "question",
) -> None:
    """Read published questions, tables, passages, rankings and judgments, and write them as JSON Lines.

    Exit code 0: every row was used; 1: some were not, each is named; 2: something given cannot be used.
    """
    from rop_otel.study.importing.published_files import (  # imported here: --help need not wait for it
        Sources,
        import_files,
    )

    sources = Sources(
        questions=tuple(questions or ()),
        tables=tuple(tables or ()),
        passages=tuple(passages or ()),
        run=tuple(run or ()),
        qrels=tuple(qrels or ()),
        folder=folder,
        split=split,
        form=form,
    )
    found = import_files(published.value, sources, out)
    for each in found.account["outputs"]:
        say(f"{each['name']}: {each['rows']:,} rows")
    for what, count in found.account["left_out"].items():
        say(f"left out: {count:,} {what}")
    if not found.problems:
        return
    for problem in islice(found.problems, SHOWN):
        complain(str(problem))
    complain(f"{len(found.problems):,} rows could not be used; problems.jsonl names each")
    raise typer.Exit(1)
