"""What the tests of the study share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.study.commands import Command, Ended, command
from tests.study.frozen import question
from tests.study.omitting import AT, READERS, Omit, freeze_rows


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``rop-otel study`` with the given arguments."""
    return command(monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with readers, and the rankings and pages of four questions."""
    (tmp_path / "known_readers.py").write_text(READERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "known_readers", raising=False)
    freeze_rows(tmp_path, [question(f"q{number}") for number in range(4)])
    return tmp_path


@pytest.fixture
def omit(folder: Path, study: Command) -> Omit:
    """Run ``study omit`` with a reader of the module."""

    def run(reader: str | None = "knows", *options: object) -> Ended:
        named = () if reader is None else ("--reader", f"known_readers:{reader}")
        return study(
            *("omit", folder / "dir", "--corpus", folder / "pages.jsonl", "--out", folder / "out", *AT),
            *named,
            *options,
        )

    return run
