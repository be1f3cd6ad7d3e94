"""``rop-otel merge``: combine the partial reports of shards into the report of one pass."""

from __future__ import annotations

from typing import Annotated

import typer

from rop_otel.cli.run_report import (
    FileBytesOption,
    Format,
    FormatOption,
    NoRecordsOption,
    RecordsOutOption,
    ReportOption,
    deliver,
    keep_inputs,
    limits_of,
    wants_records,
    write_lines,
)
from rop_otel.errors import ConfigurationError


def merge(
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PARTIAL...", show_default=False, help="What evaluate --partial wrote, in any order."),
    ],
    declaration: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where the declaration is now; by default where it was."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
    report: ReportOption = None,
    records_out: RecordsOutOption = None,
    no_records: NoRecordsOption = False,
    partial: Annotated[bool, typer.Option("--partial", metavar="", help="Write a partial report again.")] = False,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Combine partial reports, any number in any order, into exactly the report of one pass.

    Exit codes are those of evaluate.
    """
    from rop_otel.evaluation.merged_report import Merged, merge_parts  # imported here: --help need not wait for it
    from rop_otel.evaluation.partial_reports import part_lines

    wanted = wants_records(records_out=records_out, no_records=no_records, partial=partial)
    merged: Merged = merge_parts(parts, declaration=declaration, limits=limits_of(max_file_bytes=max_file_bytes))
    keep_inputs([*parts, merged.declaration], report, records_out)
    if records_out is not None and not merged.has_records:
        raise ConfigurationError("--records-out: a part holds no records, since --no-records left them out")
    kept = merged if wanted and merged.has_records else None
    if partial:
        write_lines(report, part_lines(merged.partial, kept, declaration=merged.declaration))
        return
    deliver(merged.report, kept, output_format=output_format, report_file=report, records_file=records_out)
