"""``rop-otel study cohort``: draw questions by rules that no model's output enters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.terminal import say


def cohort(
    questions: Annotated[
        list[str],
        typer.Option(metavar="FILE...", show_default=False, help="Questions with table_id and answer_nodes."),
    ],
    tables: Annotated[list[str], typer.Option(metavar="FILE...", show_default=False, help="Their tables.")],
    salt: Annotated[str, typer.Option(show_default=False, help="Decides the order: chosen once, and published.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="Where the cohort is written.")],
    first: Annotated[int | None, typer.Option(min=1, metavar="N", help="Take the first N; by default all.")] = None,
) -> None:
    """Draw a cohort by the ROP paper's filters, in the order of a salted SHA-256, at most one question a table."""
    from rop_otel.study.cohort_drawing import draw, write  # imported here: --help need not wait for it

    drawn = draw(questions, tables, salt=salt, first=first)
    write(drawn, out)
    account = drawn.account
    say(f"{account['questions']:,} questions")
    for name, each in account["removed"].items():
        say(f"{each['removed']:>8,}  removed as {name}: {each['why']} ({each['met']:,} with those of other filters)")
    say(f"{account['eligible']:>8,}  pass the filters")
    for name, each in account["left_out"].items():
        say(f"{each['left_out']:>8,}  left out as {name}: {each['why']}")
    say(f"{account['cohort']:>8,}  in the cohort, SHA-256 {account['cohort_sha256']}")
