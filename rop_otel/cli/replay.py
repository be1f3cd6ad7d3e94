"""``rop-otel replay``: assess recorded spans."""

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
from rop_otel.core.profile.declaration import Interface


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
    interface: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HANDOFF=NAME[@VERSION]",
            show_default=False,
            help="Compare the declaration's interface: handoffs of this name stand for that one; again for more names.",
        ),
    ] = None,
    lists: Annotated[
        bool, typer.Option("--lists", metavar="", help="Give the IDs that each stage returned, too.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Assess recorded spans: verdicts, where objects were lost, findings and stage scores.

    Exit code 0: no handoff FAILs and no finding is an error; 1: otherwise; 2: a file cannot be read. With a
    declaration, the exit codes are those of evaluate. Spans of OpenInference, OpenLLMetry and the GenAI convention are
    read as ours; docs/conventions.md lists the environment variables for this.
    """
    from rop_otel.core.escapes import printable_json  # imported here: --help need not wait for it
    from rop_otel.replay import print_report, replay_files
    from rop_otel.spans.conventions import Rules

    report = replay_files(
        files,
        resolver=resolver,
        declaration=declaration,
        interfaces=_interfaces(interface) if interface else None,
        rules=Rules.of_environment(),
        limits=limits_of(max_file_bytes=max_file_bytes),
    )
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


def _interfaces(told: list[str]) -> dict[str, Interface]:
    """Return the interfaces that handoffs stand for, by the names of these."""
    found: dict[str, Interface] = {}
    for each in told:
        handoff, _, interface = each.partition("=")
        name, at, version = interface.rpartition("@") if "@" in interface else (interface, "", "")
        if not handoff or not name or (at and not version):
            raise typer.BadParameter(f"{each!r} is no HANDOFF=NAME[@VERSION]", param_hint="--interface")
        found[handoff] = Interface(name=name, version=version or None)
    return found
