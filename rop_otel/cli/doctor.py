"""``rop-otel doctor``: report what makes verdicts meaningless, and what to change."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rop_otel.cli.run_report import FileBytesOption, Format, FormatOption, limits_of
from rop_otel.cli.terminal import create_console, say_json


def doctor(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", show_default=False, help="Recorded spans: OTLP JSON, plain, gzip or zstd."),
    ],
    resolver: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The resolver in force: .json, or .jsonl for JSON Lines."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Check how handoffs are watched: which facts are read, what looks wrong, and what to change.

    Exit code 0: no fault makes verdicts meaningless; 1: a fault does, or there is no handoff; 2: a file cannot be
    read.
    """
    from rop_otel.core.escapes import printable_json  # imported here: --help need not wait for it
    from rop_otel.replay import check_up, print_checkup, replay_files
    from rop_otel.spans.conventions import Rules

    limits = limits_of(max_file_bytes=max_file_bytes)
    checkup = check_up(replay_files(files, resolver=resolver, rules=Rules.of_environment(), limits=limits))
    if output_format is Format.JSON:
        text = json.dumps(checkup.as_dict(), ensure_ascii=False, allow_nan=False)
        say_json([printable_json(text).encode() + b"\n"])
    else:
        print_checkup(checkup, create_console())
    raise typer.Exit(int(checkup.grave))
