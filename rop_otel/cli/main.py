"""The command ``rop-otel``: its verbs, and how its errors look."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from rop_otel.cli.dashboards import dashboards
from rop_otel.cli.declare import declare
from rop_otel.cli.demo import demo
from rop_otel.cli.evaluate import evaluate
from rop_otel.cli.explain import explain
from rop_otel.cli.merge import merge
from rop_otel.cli.replay import replay
from rop_otel.cli.rules import rules
from rop_otel.cli.schema import schema
from rop_otel.cli.several import SeveralValues
from rop_otel.errors import RopError

USAGE_ERROR = 2
"""Exit code where the command, a file or a setting cannot be used."""

app = typer.Typer(
    name="rop-otel",
    help="Did the selected object reach the reader, and if not, where was it lost?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(cls=SeveralValues)(demo)
app.command()(replay)
app.command()(declare)
app.command(cls=SeveralValues)(evaluate)
app.command(cls=SeveralValues)(explain)
app.command()(merge)
app.command()(schema)
app.command()(rules)
app.command()(dashboards)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(version("rop-otel"))
        raise typer.Exit


@app.callback()
def _main(
    _: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command: our own errors, and the system's, are one line on stderr and exit code 2.

    Output that nobody reads any more ends it quietly, which typer sees to. What a terminal or file cannot show, such as
    an ID in another script under an ASCII locale, is escaped.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="rop-otel")
    except (RopError, OSError) as error:
        told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        print("rop-otel:", " ".join(told.splitlines()), file=sys.stderr)
        sys.exit(USAGE_ERROR)
