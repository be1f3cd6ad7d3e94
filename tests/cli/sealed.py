"""A declared run of two records, as a user types it."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from rop_otel.cli.main import app

RECORDS = [
    {"record_id": "run_alpha", "selector": {"key": "obj-a"}, "results": [{"id": "b#0"}, {"id": "a#1"}], "gold": "b#0"},
    {"record_id": "run_beta", "selector": {"key": "obj-b"}, "results": [{"id": "x"}] * 3 + [{"id": "b#0"}]},
]
DECISIONS = (
    "--interface fixture-ranker-api --component ranker --selection selector.key --returned results[].id --cutoff 3"
    " --authority search-team"
).split()
DECLARATION = "sealed/declaration.json"
TABLE = "--resolver map.csv --chunk-column chunk --object-column object --resolver-version 7".split()


def run(*arguments: str) -> tuple[int, str]:
    """Run a verb; return its exit code and what it prints."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def declared() -> str:
    """Declare the run in the current folder; return the declaration's path."""
    assert run("declare", "sealed", *DECISIONS, *TABLE, "--population", "ids.txt")[0] == 0
    return DECLARATION


def report(*arguments: str) -> dict[str, Any]:
    """Evaluate; return the report."""
    found: dict[str, Any] = json.loads(run("evaluate", *arguments, "--format", "json")[1])
    return found
