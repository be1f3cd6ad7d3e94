"""The verbs of ``rop-otel study``."""

from __future__ import annotations

import typer

from rop_otel.cli.several import SeveralValues
from rop_otel.cli.study.example import example
from rop_otel.cli.study.rank import rank
from rop_otel.cli.terminal import Verbs

study = typer.Typer(
    cls=Verbs,
    name="study",
    help="Compare ways of turning a selection into evidence: which of them loses the selected object?",
    no_args_is_help=True,
)
study.command(cls=SeveralValues)(rank)
study.command()(example)
