"""The verbs of ``rop-otel study``."""

from __future__ import annotations

import typer

from rop_otel.cli.several import SeveralValues
from rop_otel.cli.study.cohort import cohort
from rop_otel.cli.study.export import export
from rop_otel.cli.study.import_published import import_published
from rop_otel.cli.study.omit import omit
from rop_otel.cli.terminal import Verbs

study = typer.Typer(
    cls=Verbs,
    help="Which way of turning a selection into evidence loses it? A study on your own corpus and selections.",
    no_args_is_help=True,
)
study.command("import", cls=SeveralValues)(import_published)
study.command()(export)
study.command(cls=SeveralValues)(cohort)
study.command(cls=SeveralValues)(omit)
