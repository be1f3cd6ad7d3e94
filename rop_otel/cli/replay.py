"""``rop-otel replay``: assess recorded spans.

Long because each option stands with its help where typer looks for it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rop_otel.cli.run_report import (
    EXIT_CODES,
    FileBytesOption,
    Format,
    FormatOption,
    keep_inputs,
    limits_of,
    print_text,
)
from rop_otel.cli.terminal import create_console, say, say_json
from rop_otel.core.profile.declaration import Interface
from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rop_otel.page import Carried
    from rop_otel.replay import Report


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
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a page that draws every handoff.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option("--compare", metavar="FILE", help="Spans of a second set, for --html; may be repeated."),
    ] = None,
    trace_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --html: where a trace is seen, with {trace_id} for its ID."),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", metavar="", help="With --html: show the texts of queries that the spans carry.")
    ] = False,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Assess recorded spans: verdicts, where objects were lost, findings and stage scores.

    Exit code 0: no handoff FAILs and no finding is an error; 1: otherwise; 2: a file cannot be read. With a
    declaration, the exit codes are those of evaluate. Spans of OpenInference, OpenLLMetry and the GenAI convention are
    read as ours; docs/conventions.md lists the environment variables for this.
    """
    from rop_otel.cli.page import assessed_set, save_page  # imported here: --help need not wait for it
    from rop_otel.page import AssessedSet, Carried
    from rop_otel.replay import replay_files
    from rop_otel.spans.conventions import Rules

    if html is None and (compare or text or trace_url is not None):
        raise ConfigurationError("--compare, --text and --trace-url say what is on the page: give --html too")
    settings: dict[str, Any] = {
        "resolver": resolver,
        "declaration": declaration,
        "interfaces": _interfaces(interface) if interface else None,
        "rules": Rules.of_environment(),
        "limits": limits_of(max_file_bytes=max_file_bytes),
    }

    def judged(spans: list[str]) -> tuple[Report, Carried]:
        carried = Carried(text=text)
        also = None if html is None else carried.add
        return replay_files(spans, also=also, **settings), carried

    report, carried = judged(files)
    if html is not None:
        keep_inputs([*files, *(compare or ())], str(html))
        sets: list[AssessedSet] = [assessed_set(_name(files), report, carried)]
        if compare:
            sets.append(assessed_set(_name(compare), *judged(compare)))
        save_page(sets, html, title=_name(files), trace_url=trace_url)
    _print(report, output_format, lists=lists)
    if report.run is not None:
        raise typer.Exit(EXIT_CODES[report.run.report.run_status])
    raise typer.Exit(0 if report.clean else 1)


def _print(report: Report, output_format: Format, *, lists: bool) -> None:
    from rop_otel.core.escapes import printable_json
    from rop_otel.replay import print_report

    if output_format is Format.JSON:
        document = json.dumps(report.as_dict(lists=lists), ensure_ascii=False, allow_nan=False)
        say_json([printable_json(document).encode() + b"\n"])
        return
    print_report(report, create_console(), lists=lists)
    if report.run is not None:
        say()
        print_text(report.run.report)


def _interfaces(given: list[str]) -> dict[str, Interface]:
    """Return the interfaces that handoffs stand for, by the names of these."""
    found: dict[str, Interface] = {}
    for each in given:
        handoff, _, interface = each.partition("=")
        name, at, version = interface.rpartition("@") if "@" in interface else (interface, "", "")
        if not handoff or not name or (at and not version):
            raise typer.BadParameter(f"{each!r} is no HANDOFF=NAME[@VERSION]", param_hint="--interface")
        found[handoff] = Interface(name=name, version=version or None)
    return found


def _name(files: list[str]) -> str:
    """Return what a page calls the handoffs of some files."""
    more = len(files) - 1
    return Path(files[0]).name + (f" and {more:,} more" if more else "")
