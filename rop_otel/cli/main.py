"""The command ``rop-otel``: its verbs, and how its errors look."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from rop_otel.cli.dashboards import dashboards
from rop_otel.cli.declare import declare
from rop_otel.cli.demo import demo
from rop_otel.cli.doctor import doctor
from rop_otel.cli.evaluate import evaluate
from rop_otel.cli.explain import explain
from rop_otel.cli.export_store import export
from rop_otel.cli.merge import merge
from rop_otel.cli.monitor import monitor
from rop_otel.cli.replay import replay
from rop_otel.cli.rules import rules
from rop_otel.cli.schema import schema
from rop_otel.cli.several import SeveralValues
from rop_otel.cli.study import study
from rop_otel.cli.terminal import Verbs, complain, complain_at_length, prepare, say
from rop_otel.errors import RopError
from rop_otel.version import installed_version

USAGE_ERROR = 2
"""Exit code where the command, a file or a setting cannot be used."""

app = typer.Typer(
    cls=Verbs,
    name="rop-otel",
    help="Did the selected object reach the reader, and if not, where was it lost?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(cls=SeveralValues)(demo)
app.command()(replay)
app.command()(doctor)
app.command()(declare)
app.command(cls=SeveralValues)(evaluate)
app.command(cls=SeveralValues)(explain)
app.command()(merge)
app.command()(monitor)
app.command()(export)
app.command()(schema)
app.command()(rules)
app.command()(dashboards)
app.add_typer(study)


def _print_version(asked: bool) -> None:
    if asked:
        say(installed_version())
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

    If nobody reads the output any more, typer ends the command quietly. Characters that a terminal or file cannot show,
    such as another script under an ASCII locale, are escaped, and so are control characters.
    """
    prepare()
    try:
        app(prog_name="rop-otel")
    except (RopError, OSError) as error:
        about = getattr(error, "filename", None)  # of an error of the system
        complain(f"{about}: {getattr(error, 'strerror', '')}" if about else str(error))
        sys.exit(USAGE_ERROR)
    except MemoryError:
        complain("there is not enough memory for this; limits such as --max-file-bytes bound what is read")
        sys.exit(USAGE_ERROR)
    except Exception:  # noqa: BLE001 - a fault of ours, whose message may hold what a file holds
        complain_at_length(traceback.format_exc().rstrip("\n"))
        sys.exit(1)
