"""Programs of Prometheus and Alertmanager that the tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextvars import ContextVar
from pathlib import Path

import pytest

GROUP: ContextVar[int | None] = ContextVar("GROUP", default=None)
"""Process group of what is started: that of the tests, so that whoever ends the group ends all; 0: one of its own."""


def program(name: str) -> str:
    """Return the path of a program.

    Without it a test is skipped, except in CI, where it fails: nothing is skipped there unseen.
    """
    path = shutil.which(name)
    if path is not None:
        return path
    reason = f"no {name}; on Debian and Ubuntu: apt-get install prometheus prometheus-alertmanager"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI=true, so this test may not be skipped)")
    pytest.skip(reason)


def answer(name: str, *arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    command = [program(name), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
