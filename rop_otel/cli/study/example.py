"""``rop-otel study example``: files to try a study on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.study.progress import shown_progress
from rop_otel.cli.terminal import say


def example(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where pages.jsonl and questions.jsonl are written.")
    ],
) -> None:
    """Write this Python's own documentation as pages, and questions about it with what a selector picked for each.

    The selector is the demo's: it sees the question alone, and is wrong at times.
    """
    from rop_otel.reference.libraries import require_libraries  # imported here: --help need not wait for it

    require_libraries()
    from rop_otel.reference.example_files import PAGES, QUESTIONS, write_example

    with shown_progress() as progress:
        pages, questions = write_example(folder, progress=lambda done, total: progress("encoding", done, total))
    say(f"{pages:,} pages are in {folder / PAGES}, {questions:,} questions in {folder / QUESTIONS}")
