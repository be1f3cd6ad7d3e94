"""``rop-otel replay``: judge recorded spans."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rop_otel.cli.run_report import (
    EXIT_CODES,
    FileBytesOption,
    Format,
    FormatOption,
    limits_of,
    print_text,
)
from rop_otel.cli.terminal import create_console, say, say_json


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
    lists: Annotated[
        bool, typer.Option("--lists", metavar="", help="Give the IDs that each stage returned, too.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Judge recorded spans: verdicts, where objects were lost, findings and stage scores.

    Exit code 0: no handoff FAILs and no finding is an error; 1: otherwise; 2: a file cannot be read. With a
    declaration, the exit codes are those of evaluate. Spans of OpenInference, OpenLLMetry and the GenAI convention are
    read as ours; docs/conventions.md has the environment variables that say how.
    """
    from rop_otel.core.escapes import printable_json  # imported here: --help need not wait for it
    from rop_otel.replay import print_report, replay_files
    from rop_otel.spans.conventions import Rules

    limits = limits_of(max_file_bytes=max_file_bytes)
    rules = Rules.of_environment()
    report = replay_files(files, resolver=resolver, declaration=declaration, rules=rules, limits=limits)
    if output_format is Format.JSON:
        text = json.dumps(report.as_dict(lists=lists), ensure_ascii=False, allow_nan=False)
        say_json([printable_json(text).encode() + b"\n"])
    else:
        print_report(report, create_console(), lists=lists)
        if report.run is not None:
            say()
            print_text(report.run.report)
    if report.run is not None:
        raise typer.Exit(EXIT_CODES[report.run.report.run_status])
    raise typer.Exit(0 if report.clean else 1)
