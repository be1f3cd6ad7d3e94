"""Every handoff case, through the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app

CASES = sorted(path for path in (Path(__file__).parent / "cases" / "handoff").iterdir() if path.is_dir())
TOLERANCE = 1e-9


def arguments(case: Path) -> list[str]:
    resolver = case / "resolver.json"
    given = ["--resolver", str(resolver)] if resolver.exists() else []
    return ["replay", str(case / "traces.jsonl"), "--format", "json", *given]


def by_record(handoffs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(handoffs, key=lambda found: (found.get("record_id") or "", found["handoff_name"]))


def findings(handoff: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings in one order, without their messages."""
    found = [{**each, "ids": sorted(each["ids"]), "labels": sorted(each["labels"])} for each in handoff["findings"]]
    return sorted(({**each, "message": None} for each in found), key=repr)


def compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare the facts of a stage, or of the shown list, and its scores."""
    for target in ("selected", "judged"):
        assert found[target] == pytest.approx(expected.get(target) or {}, abs=TOLERANCE), (expected, target)
    facts = [key for key in expected if key not in ("selected", "judged")]
    assert {key: found[key] for key in facts} == {key: expected[key] for key in facts}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    """Replay says of each handoff what the case expects, with the exit code that follows from it."""
    result = CliRunner().invoke(app, arguments(case))
    found = by_record(json.loads(result.stdout)["handoffs"])
    expected = by_record(json.loads((case / "expected.json").read_text())["handoffs"])
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        facts = [key for key in other if key not in ("findings", "stages", "shown")]
        assert {key: one[key] for key in facts} == {key: other[key] for key in facts}
        assert findings(one) == findings(other)
        assert [stage["stage"] for stage in one["stages"]] == [stage["stage"] for stage in other["stages"]]
        for stage, wanted in zip(one["stages"], other["stages"], strict=True):
            compare(stage, wanted)
        compare(one["shown"], other["shown"])
    errors = any(finding["severity"] == "error" for one in found for finding in one["findings"])
    assert result.exit_code == int(errors or any(one["verdict"] == "FAIL" for one in found))


def test_the_installed_command() -> None:
    """The command that users type says the same as the one that runs within these tests."""
    case = CASES[0]
    command = [sys.executable, "-c", "from rop_otel.cli.main import main; main()", *arguments(case)]
    result = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert result.stdout == CliRunner().invoke(app, arguments(case)).stdout_bytes


def test_all_cases_at_once() -> None:
    """The cases together, in one run over many files, give each case's handoffs."""
    plain = [case for case in CASES if not (case / "resolver.json").exists()]
    result = CliRunner().invoke(app, ["replay", "--format", "json", *(str(case / "traces.jsonl") for case in plain)])
    together = {handoff["handoff_id"]: handoff for handoff in json.loads(result.stdout)["handoffs"]}
    alone = [json.loads(CliRunner().invoke(app, arguments(case)).stdout)["handoffs"] for case in plain]
    assert together == {handoff["handoff_id"]: handoff for handoffs in alone for handoff in handoffs}
