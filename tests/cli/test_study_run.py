"""The commands ``rop-otel study run`` and ``example`` from the outside."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rop_otel.cli.main import main
from rop_otel.reference.corpus import stdlib
from tests.cli.small_study import PAGES, QUESTIONS, contents, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["rop-otel", "study", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_one_command_ranks_and_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine rules, two query forms, every table and the transitions, by one command; again, with the same bytes."""
    files = ["--corpus", write(Path("pages.jsonl"), PAGES), "--questions", write(Path("questions.jsonl"), QUESTIONS)]
    code, out, err = call(monkeypatch, capsys, "run", *files, "--out", "one", "--intervals", "200")
    assert (code, err) == (0, "")
    assert "18 rankings of 6 planned rows over 5 pages are frozen in one" in out
    assert "Table 5." in out
    tables = json.loads(Path("one/tables.json").read_text())["tables"]
    assert {"4", "5", "6", "7", "8", "13", "14", "16", "17", "18", "19", "20", "22"} <= tables.keys()
    rules = {row["rule"] for row in tables["5"]["rows"]}
    assert {"key", "bm25_body", "dense", "maxsim", "rrf", "rrf_rerank"} <= rules
    assert json.loads(Path("one/transitions.json").read_text())["transitions"]
    assert "<svg" in Path("one/tables.html").read_text()
    call(monkeypatch, capsys, "run", *files, "--out", "two", "--intervals", "200")
    assert contents(Path("one")) == contents(Path("two"))
    call(monkeypatch, capsys, "run", *files, "--out", "two", "--intervals", "200")
    assert contents(Path("one")) == contents(Path("two"))


def test_bad_input_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What rank refuses, run refuses, and nothing is written."""
    pages, twice = write(Path("pages.jsonl"), PAGES), write(Path("questions.jsonl"), QUESTIONS[:1] * 2)
    code, out, err = call(monkeypatch, capsys, "run", "--corpus", pages, "--questions", twice, "--out", "one")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "questions.jsonl:2: the id 'q1' is there twice" in err
    assert not Path("one").exists()


def test_example_is_a_study_to_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The standard library's objects become pages, the bundled questions records with what the selector picked."""
    monkeypatch.setattr(stdlib, "MAX_ITEMS", 150)
    assert call(monkeypatch, capsys, "example", "library")[0] == 0
    pages = [json.loads(line) for line in Path("library/pages.jsonl").read_text().splitlines()]
    questions = [json.loads(line) for line in Path("library/questions.jsonl").read_text().splitlines()]
    ids = {page["id"] for page in pages}
    assert len(pages) == len(ids) == 150
    assert all(page["title"].startswith(page["id"].partition("(")[0]) and page["text"] for page in pages)
    assert questions
    assert all(ids.issuperset(question["gold_ids"]) and question["gold_ids"] for question in questions)
    assert all(question["selected_id"] is None or question["selected_id"] in ids for question in questions)
    files = ["--corpus", "library/pages.jsonl", "--questions", "library/questions.jsonl"]
    code, out, _ = call(monkeypatch, capsys, "rank", *files, "--rule", "bm25_body", "--form", "title", "--out", "out")
    assert (code, out) == (0, f"1 rankings of {len(questions)} planned rows over 150 pages are frozen in out\n")
