"""The examples of frameworks, unchanged, under ``opentelemetry-instrument``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SAME_DOCUMENTATION

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 600

of_each = pytest.mark.parametrize("example", ["haystack-qa", "langchain-qa", "llama-index-qa"])


def run(example: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example as its README says."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ROP_OTEL_"))}
    instrument = Path(sys.executable).with_name("opentelemetry-instrument")
    return subprocess.run(
        [str(instrument), sys.executable, "main.py", *arguments],
        cwd=EXAMPLES / example,
        env=environment | {"HAYSTACK_TELEMETRY_ENABLED": "False", "ROP_OTEL_SELECTED_BY": "main:selector"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )


def told(text: str) -> list[str]:
    """Return the lines that come from the monitor, but for the first, which says what is watched."""
    lines = [line for line in text.splitlines() if line.startswith(("rop_otel", "INFO rop_otel"))]
    return [line for line in lines if ": watching " not in line]


@of_each
def test_watched_it_prints_the_same_and_nothing_is_lost(example: str) -> None:
    """Without the fault every selected object arrives, and the log says nothing."""
    finished = run(example)
    if SAME_DOCUMENTATION:
        assert finished.stdout == (EXAMPLES / example / "expected.txt").read_text(encoding="utf-8")
    assert finished.stdout
    assert not told(finished.stderr)


@of_each
def test_the_fault_is_named_with_stage_and_cause(example: str) -> None:
    """A cut behind the reorder loses objects, and the log has the lines for them that the README shows."""
    lines = told(run(example, "--fault", "prefix_cut").stderr)
    assert all("FAIL, the selected object was lost at" in line for line in lines)
    assert lines
    if SAME_DOCUMENTATION:
        assert lines == told((EXAMPLES / example / "README.md").read_text(encoding="utf-8"))
