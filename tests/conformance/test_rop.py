"""Every ROP case, through the command; and its parts, through merge."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app
from rop_otel.errors import ConfigurationError

CASES = sorted(path for path in (Path(__file__).parent / "cases" / "rop").iterdir() if path.is_dir())
EXIT_CODES = {"RUN_PASS": 0, "NOT_APPLICABLE": 0, "RUN_FAIL": 1, "RUN_UNVERIFIABLE": 3, "RUN_INVALID": 4}
UNREADABLE = {"declaration-bom"}  # the case names the ID all the same; we read none out of what is no I-JSON
COMPARED_OTHERWISE = {"malformed_lines", "declaration_valid", "records", "evaluator", "diagnostics"}


def arguments(case: Path) -> tuple[list[Path], list[str]]:
    """Return a case's record files and options."""
    found: dict[str, list[str]] = {"records": ["records.jsonl"], "options": []}
    if (case / "args.json").exists():
        found = json.loads((case / "args.json").read_text())
    return [case / name for name in found["records"]], found["options"]


def wanted(case: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case / "expected.json").read_text())
    return found


def evaluate(case: Path, *more: str, records: list[Path]) -> tuple[int, str]:
    files = [str(file) for file in records]
    result = CliRunner().invoke(app, ["evaluate", str(case / "declaration.json"), "--records", *files, *more])
    if isinstance(result.exception, ConfigurationError):
        return 2, result.stdout  # as the command's entry point has it
    return result.exit_code, result.stdout


def lines(file: Path) -> list[bytes]:
    data = file.read_bytes()
    return (gzip.decompress(data) if file.suffix == ".gz" else data).splitlines(keepends=True)


REPORTED = [case for case in CASES if "exit" not in wanted(case)]
OBSERVED = [case for case in REPORTED if any(lines(file) for file in arguments(case)[0])]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    """Evaluate reports what the case expects, with the exit code of its status; or refuses what cannot be asked."""
    records, options = arguments(case)
    exit_code, output = evaluate(case, "--format", "json", *options, records=records)
    expected = wanted(case)
    if "exit" in expected:
        assert (exit_code, output) == (expected["exit"], "")
        return
    found = json.loads(output)
    same = expected.keys() - COMPARED_OTHERWISE - ({"declaration_id"} if case.name in UNREADABLE else set())
    assert {key: found[key] for key in same} == {key: expected[key] for key in same}
    for key in ("evaluator", "diagnostics"):
        assert {name: found[key][name] for name in expected.get(key) or ()} == (expected.get(key) or {})
    assert [
        {name: it[name] for name in each} for it, each in zip(found["records"], expected["records"], strict=True)
    ] == (expected["records"])
    assert [it["line"] for it in found["malformed_observations"]] == expected["malformed_lines"]
    assert bool(found["declaration_errors"]) is not expected["declaration_valid"]
    assert exit_code == EXIT_CODES[expected["run_status"]]


@pytest.mark.parametrize("case", OBSERVED, ids=lambda case: case.name)
def test_case_in_shards(case: Path, tmp_path: Path) -> None:
    """One shard per line, merged backwards, gives the report of one pass over the same files, byte for byte."""
    records, options = arguments(case)
    shards, parts = [], []
    for number, line in enumerate(line for file in records for line in lines(file)):
        shard, part = tmp_path / f"{number:02}.jsonl", tmp_path / f"{number:02}.part"
        shard.write_bytes(line)
        assert evaluate(case, "--partial", "--report", str(part), *options, records=[shard]) == (0, "")
        shards.append(shard)
        parts.append(str(part))
    merged = CliRunner().invoke(app, ["merge", *reversed(parts), "--format", "json"])
    assert (merged.exit_code, merged.stdout) == evaluate(case, "--format", "json", *options, records=shards)
