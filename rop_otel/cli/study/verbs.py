"""The verbs of ``rop-otel study``."""

from __future__ import annotations

import typer

from rop_otel.cli.several import SeveralValues
from rop_otel.cli.study.cohort import cohort
from rop_otel.cli.study.declare_runs import declare
from rop_otel.cli.study.example import example
from rop_otel.cli.study.export import export
from rop_otel.cli.study.import_published import import_published
from rop_otel.cli.study.omit import omit
from rop_otel.cli.study.rank import rank
from rop_otel.cli.study.run_study import run
from rop_otel.cli.study.tables import tables
from rop_otel.cli.study.transitions import transitions
from rop_otel.cli.terminal import Verbs

study = typer.Typer(
    cls=Verbs,
    name="study",
    help="Which way of turning a selection into evidence loses it, with intervals.",
    no_args_is_help=True,
)
study.command("import", cls=SeveralValues)(import_published)
study.command(cls=SeveralValues)(cohort)
study.command(cls=SeveralValues)(rank)
study.command(cls=SeveralValues)(tables)
study.command(cls=SeveralValues)(transitions)
study.command()(declare)
study.command(cls=SeveralValues)(omit)
study.command()(export)
study.command(cls=SeveralValues)(run)
study.command()(example)
