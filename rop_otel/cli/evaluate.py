"""``rop-otel evaluate``: account for every expected record of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from rop_otel.cli.run_report import (
    CutoffOption,
    DeclarationArgument,
    FileBytesOption,
    Format,
    FormatOption,
    LineBytesOption,
    NoRecordsOption,
    RecordsOption,
    RecordsOutOption,
    ReportOption,
    UnpackedBytesOption,
    deliver,
    keep_inputs,
    limits_of,
    wants_records,
    write_lines,
)
from rop_otel.cli.terminal import create_console, is_watched


def evaluate(
    declaration: DeclarationArgument,
    records: RecordsOption,
    output_format: FormatOption = Format.TEXT,
    report: ReportOption = None,
    records_out: RecordsOutOption = None,
    no_records: NoRecordsOption = False,
    at: CutoffOption = None,
    trace: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field of the judged objects, if the sheet names none: joint outcomes."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(metavar="N", help="How deep every list was stored, if the sheet does not say."),
    ] = None,
    near: Annotated[
        int | None,
        typer.Option(metavar="N", help="Last rank past a cutoff that is counted as near; else all are."),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", metavar="", help="Write this shard's part, to be combined by merge, instead of a report."
        ),
    ] = False,
    max_line_bytes: LineBytesOption = None,
    max_file_bytes: FileBytesOption = None,
    max_unpacked_bytes: UnpackedBytesOption = None,
    max_anomalies: Annotated[
        int | None, typer.Option(min=0, help="Most malformed and unexpected observations that are listed.")
    ] = None,
) -> None:
    """Assess record files against a declaration, and account for every expected record.

    Exit code 0: RUN_PASS or NOT_APPLICABLE; 1: RUN_FAIL; 3: RUN_UNVERIFIABLE; 4: RUN_INVALID; 2: an argument or a file
    cannot be used.
    """
    from rop_otel.core.profile.partial import Partial  # imported here: --help need not wait for it
    from rop_otel.evaluation.declaration_reader import read_declaration
    from rop_otel.evaluation.external_sort import ExternalSort
    from rop_otel.evaluation.partial_reports import part_lines
    from rop_otel.evaluation.record_blocks import expand
    from rop_otel.evaluation.record_files import EvaluationOptions, evaluate_files, report_of

    wanted = wants_records(records_out=records_out, no_records=no_records, partial=partial)
    limits = limits_of(
        max_line_bytes=max_line_bytes,
        max_file_bytes=max_file_bytes,
        max_unpacked_bytes=max_unpacked_bytes,
        max_anomalies=max_anomalies,
    )
    options = EvaluationOptions(at=tuple(at or ()), trace=trace, depth=depth, near=near, limits=limits)
    keep_inputs([declaration, *expand(records)], report, records_out)
    opened = read_declaration(declaration, limits=limits)
    with ExternalSort() as in_order, _progress(records) as progress:
        keep = in_order.add if wanted else None
        counts = evaluate_files(opened, records, options=options, keep=keep, progress=progress)
        kept = in_order if wanted else None
        if partial:
            part = Partial.of(counts, manifest_sha256=opened.manifest_sha256)
            write_lines(report, part_lines(part, kept, declaration=declaration))
            return
        whole = report_of(opened, counts)
        deliver(whole, kept, output_format=output_format, report_file=report, records_file=records_out)


@contextmanager
def _progress(records: Sequence[str]) -> Iterator[Callable[[int], None] | None]:
    """Show a bar on a terminal while files are read; nothing elsewhere."""
    if not is_watched():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from rop_otel.evaluation.record_blocks import expand

    sizes = [os.path.getsize(file) for file in expand(records) if os.path.isfile(file)]
    columns = (TextColumn("reading records"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=create_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=sum(sizes) or None)
        yield lambda count: bar.advance(task, count)
