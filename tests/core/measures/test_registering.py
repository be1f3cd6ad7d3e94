"""A measure is one file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import rop_otel

SUCCESS = """
from rop_otel.core.measures.measure import Measure, register

register(
    Measure(
        name="success",
        ks=(1, 5),
        place=9,
        title="Success",
        description="Whether the first k hold a wanted object.",
        score=lambda ranked, k: float(any(ranked.gains[:k])),
    )
)
"""
COUNTED = """
import rop_otel
from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.meters.tally import Tally

stage = StageRecord(kind="vector", returned=("a", "b"), span_id="1", start_ns=0, end_ns=1)
record = HandoffRecord(name="qa", handoff_id="1", selected=("b",), judged=("a",), stages=(stage,), start_ns=0, end_ns=2)
assessment = rop_otel.assess(record)
tally = Tally()
tally.assessed(record, assessment, seconds=0.0)
print(assessment.stages[0].selected["success@1"], assessment.stages[0].judged["success@1"])
for point in tally.points(semconv.STAGE_SCORE):
    print(*filter(None, point.values), point.number)
"""


def test_a_new_file_is_a_new_measure(tmp_path: Path) -> None:
    """A file beside the others is all it takes: lists are scored by its measure, and the tally counts that."""
    package = shutil.copytree(Path(rop_otel.__file__).parent, tmp_path / "rop_otel")
    (package / "core" / "measures" / "success.py").write_text(SUCCESS, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", COUNTED], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    scores, *counted = ran.stdout.splitlines()
    assert scores == "0.0 1.0"
    assert "qa vector judged success 1 1.0" in counted
    assert "qa vector selected success 5 1.0" in counted
