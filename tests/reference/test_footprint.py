"""What the demo leaves on its user's machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

COMMAND = "from rop_otel.cli.main import main; main()"


def test_only_the_cache_folder_is_written(tmp_path: Path) -> None:
    """In a fresh home the demo writes its own cache folder and nothing else; no library reports or leaves an ID."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "pages.jsonl").write_text(json.dumps({"id": "otter", "title": "Otter", "text": "Otters live in rivers."}))
    (work / "questions.jsonl").write_text(json.dumps({"id": "q1", "question": "Who?", "gold_ids": ["otter"]}))
    # On a machine for continuous integration, onnxruntime keeps quiet by itself.
    watched = {"CI", "GITHUB_ACTIONS", "TF_BUILD", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"}
    finished = subprocess.run(
        [sys.executable, "-B", "-c", COMMAND, "demo", "--corpus", "pages.jsonl", "--questions", "questions.jsonl"],
        cwd=work,
        env={key: value for key, value in os.environ.items() if key not in watched}
        | {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert [path.relative_to(home).as_posix() for path in home.glob("*/*")] == [".cache/rop-otel"]
    assert sorted(path.name for path in work.iterdir()) == ["pages.jsonl", "questions.jsonl"]
