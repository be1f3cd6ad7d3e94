"""``rop-otel replay``: judge recorded spans."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"


def replay(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", show_default=False, help="Recorded spans: OTLP JSON, plain, gzip or zstd."),
    ],
    resolver: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The resolver in force: .json, or .jsonl for JSON Lines."),
    ] = None,
    declaration: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The declaration of a run: account for every record that it expects."),
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.TEXT,
) -> None:
    """Judge recorded spans: verdicts, where objects were lost, findings and stage scores.

    Exit code 0: no handoff FAILs and no finding is an error; 1: otherwise; 2: a file cannot be read. With a
    declaration, the exit codes are those of evaluate. Spans of OpenInference, OpenLLMetry and the GenAI convention are
    read as ours; docs/conventions.md has the environment variables that say how.
    """
    # Imported here, so that --help need not wait for it.
    from rich.console import Console

    from rop_otel.cli.run_report import EXIT_CODES, print_text
    from rop_otel.replay import print_report, replay_files
    from rop_otel.spans.conventions import Rules

    report = replay_files(files, resolver=resolver, declaration=declaration, rules=Rules.of_environment())
    if output_format is Format.JSON:
        text = json.dumps(report.as_dict(), ensure_ascii=False, allow_nan=False)
        sys.stdout.buffer.write(text.encode(errors="backslashreplace") + b"\n")
        sys.stdout.flush()
    else:
        print_report(report, Console())
        if report.run is not None:
            print()
            print_text(report.run.report)
    if report.run is not None:
        raise typer.Exit(EXIT_CODES[report.run.report.run_status])
    raise typer.Exit(0 if report.clean else 1)
