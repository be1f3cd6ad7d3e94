"""The LangChain example, unchanged, under ``opentelemetry-instrument``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "langchain-qa"
SECONDS = 120
LOST = "rop_otel.handoffs: retrieval_chain: FAIL, the selected object was lost at keep_first (dropped); selected: "


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the example as its README says."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ROP_OTEL_"))}
    instrument = Path(sys.executable).with_name("opentelemetry-instrument")
    return subprocess.run(
        [str(instrument), sys.executable, "main.py", *arguments],
        cwd=EXAMPLE,
        env=environment | {"ROP_OTEL_SELECTED_BY": "main:selector"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )


def test_watched_it_prints_the_same_and_nothing_is_lost() -> None:
    """Without the fault every selected object arrives, and the log says nothing."""
    finished = run()
    assert finished.stdout == (EXAMPLE / "expected.txt").read_text(encoding="utf-8")
    assert finished.stderr == ""


def test_the_fault_is_named_with_stage_and_cause() -> None:
    """A cut behind the reorder loses objects, and a line in the log for each names function and cause."""
    finished = run("--fault", "prefix_cut")
    lost = [line for line in finished.stderr.splitlines() if "rop_otel" in line]
    assert lost == [f"{LOST}{name!r}" for name in ("shutil.rmtree", "heapq.nlargest", "queue.Queue.put_nowait")]
