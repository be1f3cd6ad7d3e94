"""The application survives a garbage collector that comes at any moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.contracts.sources import ROOT


@pytest.mark.parametrize("threshold", [700, 20])
def test_nothing_left_halfway_harms_the_application(threshold: int) -> None:
    """Generators, handoffs and streams that the collector closes neither crash the interpreter nor stay open."""
    command = [sys.executable, "-m", "tests.safety.soak", "--seconds", "4", "--threshold", str(threshold)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
