"""``rop-otel schema``: print the JSON Schemas."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from rop_otel.cli.terminal import say


class Name(StrEnum):
    """The documents that have a schema."""

    DECLARATION = "declaration"
    RESOLVER = "resolver"
    RECORD_REPORT = "record_report"
    RUN_REPORT = "run_report"


def schema(
    name: Annotated[
        Name | None, typer.Argument(show_default=False, help="Which one; without it, all of them by name.")
    ] = None,
) -> None:
    """Print the JSON Schema (2020-12) of the declaration, the resolver, the record report and the run report."""
    from rop_otel.core.profile.schema import schema as schema_of  # imported here: --help need not wait for it

    shape = {str(each): schema_of(each) for each in Name} if name is None else schema_of(name)
    say(json.dumps(shape, ensure_ascii=False, indent=2))
