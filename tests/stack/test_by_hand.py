"""``make stack``: what it says where a program is missing, and when the webhook is told of an alert."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.stack.by_hand import told

ROOT = Path(__file__).parents[2]


def test_a_missing_program_is_named_without_a_stack(tmp_path: Path) -> None:
    """Without Prometheus, one sentence says what to install."""
    command = [sys.executable, "-m", "tests.stack.by_hand"]
    environment = os.environ | {"PATH": str(tmp_path)}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("no prometheus; on Debian and Ubuntu: apt-get install prometheus")
    assert "Traceback" not in result.stderr


def test_what_the_webhook_is_told_is_a_line() -> None:
    """A line says whether an alert fires or is over, which one, and the cause and the page where there are any."""
    annotations = {"summary": "Handoff docs-qa loses selected objects at stage packing"}
    labels = {"alertname": "SelectedObjectDropsBeforeReader", "rop_drop_cause": "over_budget"}
    assert told({"status": "firing", "labels": labels, "annotations": annotations}) == (
        "Webhook: firing SelectedObjectDropsBeforeReader: "
        "Handoff docs-qa loses selected objects at stage packing (over_budget)\n"
    )
    linked = {**annotations, "page_url": "http://127.0.0.1:4318/#/handoffs?verdict=FAIL"}
    assert told({"status": "firing", "labels": {"alertname": "RunFailed"}, "annotations": linked}) == (
        "Webhook: firing RunFailed: Handoff docs-qa loses selected objects at stage packing\n"
        "         http://127.0.0.1:4318/#/handoffs?verdict=FAIL\n"
    )
    absent = {"status": "resolved", "labels": {"alertname": "HandoffTrafficAbsent"}, "annotations": {"summary": "Gone"}}
    assert told(absent) == "Webhook: resolved HandoffTrafficAbsent: Gone\n"
