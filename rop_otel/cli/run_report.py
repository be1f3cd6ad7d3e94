"""Options, limits, outputs and exit codes that the verbs of ROP runs share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer

from rop_otel.cli.terminal import create_console, say_json
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.errors import InputError

if TYPE_CHECKING:
    from rop_otel.core.profile.intake import Entry
    from rop_otel.core.profile.report import RunReport
    from rop_otel.evaluation.limits import Limits


class Format(StrEnum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"


EXIT_CODES: Final = {
    RunStatus.RUN_PASS: 0,
    RunStatus.NOT_APPLICABLE: 0,
    RunStatus.RUN_FAIL: 1,
    RunStatus.RUN_UNVERIFIABLE: 3,
    RunStatus.RUN_INVALID: 4,
}
"""Exit code of the command, by run status; 2 is a usage error."""

DeclarationArgument = Annotated[
    str, typer.Argument(metavar="DECLARATION", show_default=False, help="The declaration, declaration.json.")
]
RecordsOption = Annotated[
    list[str],
    typer.Option(
        "--records",
        metavar="FILE...",
        show_default=False,
        help="Record files or quoted patterns: JSON Lines (plain, gzip, zstd), Parquet; - is standard input.",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the report.")]
ReportOption = Annotated[str | None, typer.Option("--report", metavar="FILE", help="Also write the report as JSON.")]
RecordsOutOption = Annotated[
    str | None,
    typer.Option("--records-out", metavar="FILE", help="Write the records apart, as JSON Lines."),
]
NoRecordsOption = Annotated[bool, typer.Option("--no-records", metavar="", help="Leave the records out of the report.")]
CutoffOption = Annotated[
    list[int] | None,
    typer.Option("--at", metavar="K...", help="Cutoffs beside the declared one: within it, or the depth."),
]
LineBytesOption = Annotated[int | None, typer.Option("--max-line-bytes", min=1, help="Longest line of a record file.")]
FileBytesOption = Annotated[
    int | None,
    typer.Option("--max-file-bytes", min=1, help="Largest file that is held in memory, and largest file of spans."),
]
UnpackedBytesOption = Annotated[
    int | None,
    typer.Option("--max-unpacked-bytes", min=1, help="What a compressed file may grow to, and a pipe may bring."),
]


def limits_of(**given: int | None) -> Limits:
    """Return the limits in force: those that were given, by their names in ``Limits``, and else the defaults."""
    from rop_otel.evaluation.limits import Limits  # imported here: --help need not wait for it

    return Limits(**{name: value for name, value in given.items() if value is not None})


def keep_inputs(inputs: Iterable[str], *outputs: str | None) -> None:
    """Refuse to write over a file that is read, or twice to one, which would lose what it holds.

    Args:
        inputs: Names of the files that are read.
        outputs: Names of those that are written, as far as they were asked for.

    Raises:
        InputError: One is the other.
    """
    taken = dict.fromkeys(map(os.path.realpath, inputs), "is read here, and would be written over")
    for file in outputs:
        if file is not None:
            place = os.path.realpath(file)
            if place in taken:
                raise InputError(f"{taken[place]}; name another file", file=file)
            taken[place] = "is written here already"


def wants_records(*, records_out: str | None, no_records: bool, partial: bool) -> bool:
    """Return whether records are wanted, in the report or apart from it.

    Raises:
        BadParameter: They are wanted apart from a partial report, which holds its own.
    """
    if partial and records_out is not None:
        raise typer.BadParameter("a partial report holds its records: give --records-out to merge instead")
    return not no_records or records_out is not None


def deliver(
    report: RunReport,
    records: Iterable[Entry] | None,
    *,
    output_format: Format,
    report_file: str | None,
    records_file: str | None,
) -> None:
    """Write a report everywhere it was asked for, then exit with the code of its status.

    Args:
        report: The run's report.
        records: In the report's order, and read more than once; None leaves them out.
        output_format: How it is printed.
        report_file: Where it is written as JSON, too.
        records_file: Where the records are written instead of into the report.
    """
    from rop_otel.evaluation.run_report_json import (  # imported here: --help need not wait for it
        record_lines,
        report_lines,
    )

    inside = records
    if records_file is not None:
        write_lines(records_file, record_lines(records or ()))
        inside = None
    if report_file is not None:
        write_lines(report_file, report_lines(report, inside))
    if output_format is Format.JSON:
        say_json(report_lines(report, inside))
    else:
        print_text(report)
    raise typer.Exit(EXIT_CODES[report.run_status])


def print_text(report: RunReport) -> None:
    """Print a report in words."""
    from rop_otel.evaluation.run_report_text import print_run_report  # imported here: --help need not wait for it

    print_run_report(report, create_console(highlight=False, markup=False))


def write_lines(file: str | None, lines: Iterable[bytes]) -> None:
    """Write lines to a file, to standard output without one.

    Raises:
        InputError: The file cannot be written.
    """
    if file is None:
        say_json(lines)
        return
    with _created(file) as stream:
        stream.writelines(lines)


@contextmanager
def _created(file: str) -> Iterator[BinaryIO]:
    try:
        stream = open(file, "wb")  # noqa: SIM115 # what is raised while it is written is not about this file
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=file) from None
    with stream:
        yield stream
