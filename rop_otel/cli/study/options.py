"""What the verbs share that read frozen rankings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from rop_otel.errors import ConfigurationError, remedy

if TYPE_CHECKING:
    from rop_otel.study.tables.table_context import Context


class Format(StrEnum):
    """How tables are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


FolderArgument = Annotated[
    str, typer.Argument(metavar="DIR", show_default=False, help="The folder that rop-otel study rank wrote.")
]
CutoffOption = Annotated[
    list[int] | None,
    typer.Option("--at", metavar="K...", help="Cutoffs, up to the stored depth; 1, 5 and 20 by default."),
]
IntervalsOption = Annotated[
    int, typer.Option("--intervals", metavar="N", help="Samples of the bootstrap over questions; 0 for no intervals.")
]
SeedOption = Annotated[int, typer.Option(metavar="N", help="Where the bootstrap's random numbers begin.")]
RowLevelOption = Annotated[
    bool,
    typer.Option("--row-level", metavar="", help="Beside each interval the one over rows, to show the difference."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
OutOption = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write to a file instead.")]


def require_libraries(*names: str) -> None:
    """Check that libraries of the extra are there, before anything is done.

    Raises:
        ConfigurationError: One is missing.
    """
    for library in names:
        try:
            import_module(library)
        except ImportError:
            raise ConfigurationError(f"{library} is missing: {remedy('study')}") from None


def open_context(
    folder: str, *, at: Sequence[int] | None, intervals: int, seed: int, row_level: bool = False
) -> Context:
    """Return a folder's study under these choices.

    Raises:
        InputError: The folder cannot be read.
        ConfigurationError: A choice cannot be made, or a library is missing.
    """
    require_libraries("numpy", "scipy")
    from rop_otel.study.frozen_study import read_study  # imported here: --help need not wait for it
    from rop_otel.study.intervals import Bootstrap
    from rop_otel.study.tables.table_context import Context

    bootstrap = Bootstrap(draws=intervals, seed=seed)
    return Context.of(read_study(folder), at=at or (), bootstrap=bootstrap, row_level=row_level)


def output(text: str, file: str | None) -> None:
    """Write a document to a file, to standard output without one.

    Raises:
        InputError: The file cannot be written.
    """
    from rop_otel.cli.run_report import write_lines  # imported here: --help need not wait for it

    write_lines(file, [text.encode()])
