"""Every ROP case, through the command; and its parts, through merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app

CASES = sorted(path for path in (Path(__file__).parent / "cases" / "rop").iterdir() if path.is_dir())
OBSERVED = [case for case in CASES if (case / "records.jsonl").stat().st_size]
EXIT_CODES = {"RUN_PASS": 0, "NOT_APPLICABLE": 0, "RUN_FAIL": 1, "RUN_UNVERIFIABLE": 3, "RUN_INVALID": 4}
SAME = (
    "run_status verdicts evaluable pass_fraction missing_record_ids duplicate_record_ids unexpected_record_ids observed"
    " expected manifest_sha256"
).split()


def evaluate(case: Path, *more: str, records: Path | None = None) -> tuple[int, str]:
    arguments = ["evaluate", str(case / "declaration.json"), "--records", str(records or case / "records.jsonl"), *more]
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout


def told(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(it["record_id"], it["verdict"], it["rank"], it["object_id"]) for it in report["records"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    """Evaluate reports what the case expects, with the exit code of its status."""
    exit_code, output = evaluate(case, "--format", "json")
    found, expected = json.loads(output), json.loads((case / "expected.json").read_text())
    assert {key: found[key] for key in SAME} == {key: expected[key] for key in SAME}
    assert told(found) == told(expected)
    assert [it["line"] for it in found["malformed_observations"]] == expected["malformed_lines"]
    assert bool(found["declaration_errors"]) is not expected["declaration_valid"]
    assert exit_code == EXIT_CODES[expected["run_status"]]


@pytest.mark.parametrize("case", OBSERVED, ids=lambda case: case.name)
def test_case_in_shards(case: Path, tmp_path: Path) -> None:
    """One shard per line, merged backwards, gives the report of one pass over the same files, byte for byte."""
    shards = []
    for number, line in enumerate((case / "records.jsonl").read_bytes().splitlines(keepends=True)):
        shard = tmp_path / f"{number:02}.jsonl"
        shard.write_bytes(line)
        part = tmp_path / f"{number:02}.part"
        assert evaluate(case, "--partial", "--report", str(part), records=shard) == (0, "")
        shards.append(str(part))
    merged = CliRunner().invoke(app, ["merge", *reversed(shards), "--format", "json"])
    exit_code, whole = evaluate(case, "--format", "json", records=tmp_path / "*.jsonl")
    assert (merged.exit_code, merged.stdout) == (exit_code, whole)
