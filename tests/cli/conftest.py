"""The folder that runs are declared in, and the command that ranks a small study."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rop_otel.cli.main import main
from tests.cli.sealed import RECORDS
from tests.cli.small_study import PAGES, QUESTIONS, Call, write


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return it, current, with a population, a resolver table and records."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.txt").write_text("run_beta\r\nrun_alpha\n\n")
    (tmp_path / "map.csv").write_text("chunk,object\na#0,obj-a\na#1,obj-a\nb#0,obj-b\n")
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return tmp_path


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Ranks into a folder; options given twice take the later value."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def rank(*arguments: str, pages: Any = None, questions: Any = None, out: str = "out") -> tuple[int, str, str]:
        files = [write(tmp_path / "a.jsonl", PAGES[:2]), write(tmp_path / "b.jsonl", PAGES[2:])]
        files = files if pages is None else [write(tmp_path / "pages.jsonl", pages)]
        asked = write(tmp_path / "questions.jsonl", QUESTIONS if questions is None else questions)
        command = ["study", "rank", "--corpus", *files, "--questions", asked, "--out", out, *arguments]
        monkeypatch.setattr(sys, "argv", ["rop-otel", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return rank
