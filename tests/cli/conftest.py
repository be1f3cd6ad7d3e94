"""The folder that runs are declared in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.sealed import RECORDS


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return it, current, with a population, a resolver table and records."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.txt").write_text("run_beta\r\nrun_alpha\n\n")
    (tmp_path / "map.csv").write_text("chunk,object\na#0,obj-a\na#1,obj-a\nb#0,obj-b\n")
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return tmp_path
