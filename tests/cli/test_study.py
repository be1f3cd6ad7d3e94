"""``rop-otel study``, as a user types it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rop_otel.cli.main import main
from rop_otel.cli.study import study
from tests.cli.sealed import report, run
from tests.study.test_tables import at, different, simple
from tests.study.toy import freeze, question, ranked, rows_of

VERBS = [
    command.name or command.callback.__name__ for command in study.registered_commands if command.callback is not None
]


def failing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line that a command ends with, whose exit code is 2."""
    monkeypatch.setattr(sys, "argv", ["rop-otel", "study", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    [line] = streams.err.splitlines()
    return line


@pytest.mark.parametrize("verb", VERBS)
def test_help_reads_well(verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Flags ask for no value."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["rop-otel", "study", verb, "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert not [
        line for line in capsys.readouterr().out.splitlines() if "bool" in line.lower() and "--help" not in line
    ]


def test_tables_have_the_shape_that_others_call(tmp_path: Path) -> None:
    """Several numbers follow one option, and cutoffs do."""
    folder = different(tmp_path)
    asked = ("--table", "5", "8", "--at", "1", "5", "20", "--intervals", "100", "--seed", "1", "--format", "json")
    code, text = run("study", "tables", folder, *asked)
    assert code == 0
    found = json.loads(text)["tables"]
    assert set(found) == {"5", "8"}
    assert {"selector", "form", "rule", "n", "missing", "interval", "clusters", "run_status"} <= set(
        found["5"]["rows"][0]
    )
    assert set(found["5"]["rows"][0]["missing"]) == {"1", "5", "20"}
    assert set(found["8"]["rows"][0]["at"]["5"]) == {"both", "selected_only", "trace_only", "neither"}


@pytest.mark.parametrize("kind", ["text", "markdown", "html", "json"])
def test_every_form_can_be_written_to_a_file(tmp_path: Path, kind: str) -> None:
    """What is printed is what is written."""
    folder = simple(tmp_path / "made")
    asked = ("study", "tables", folder, "--intervals", "50", "--format", kind, "--compare", "paper")
    assert run(*asked, "--out", str(tmp_path / "out"))[0] == 0
    assert run(*asked) == (0, (tmp_path / "out").read_text(encoding="utf-8"))


def test_transitions_are_printed(tmp_path: Path) -> None:
    """From one rule to another, by a group."""
    asked = ("--from", "bm25_body", "--to", "dense", "--form", "title", "--at", "5", "--group", "standing")
    code, text = run("study", "transitions", different(tmp_path), *asked, "--intervals", "50", "--format", "json")
    assert code == 0
    [whole, *parts] = json.loads(text)["transitions"]
    assert whole["n"] == sum(part["n"] for part in parts) == 6
    assert run("study", "transitions", str(tmp_path), "--intervals", "50")[1].startswith("6 planned rows")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "3"], "--table 3: there is no such table; there are 4, 5, 6, 7, 8, 13"),
        (["--table", "21"], "study omit"),
        (["--at", "50"], "no deeper than 20"),
        (["--intervals", "-1"], "at least 0"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    """The exit code is 2."""
    assert words in failing(monkeypatch, capsys, "tables", simple(tmp_path), *arguments)


def test_an_empty_folder_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For every verb."""
    for arguments in (["tables"], ["transitions"], ["declare", "--out", str(tmp_path / "out")]):
        line = failing(monkeypatch, capsys, arguments[0], str(tmp_path), *arguments[1:])
        assert "holds no manifest.json" in line


def test_a_changed_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named."""
    folder = simple(tmp_path)
    place = tmp_path / "rankings" / "title.bm25_body.jsonl"
    place.write_bytes(place.read_bytes().replace(b'"u"', b'"v"', 1))
    assert f"{place}: has changed since its manifest was written" in failing(monkeypatch, capsys, "tables", folder)


def declared(folder: str, out: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """Declare every run and evaluate it; return the reports by folder."""
    assert run("study", "declare", folder, "--out", str(out), *arguments)[0] == 0
    return {
        place.name: report(str(place / "declaration.json"), "--records", str(place / "records.jsonl"))
        for place in sorted(out.iterdir())
    }


def test_declared_runs_evaluate_to_the_same(tmp_path: Path) -> None:
    """Status, misses and joint outcomes, with trace, query form and depth sealed."""
    folder = different(tmp_path / "made")
    found = declared(folder, tmp_path / "out")
    rows = {f"{row['selector']}.{row['form']}.{row['rule']}": row for row in rows_of(folder, 5)}
    joint = {f"{row['selector']}.{row['form']}.{row['rule']}": row for row in rows_of(folder, 8)}
    assert set(found) == set(rows)
    for name, theirs in found.items():
        assert theirs["run_status"] == rows[name]["run_status"]
        assert theirs["verdicts"]["FAIL"] == rows[name]["missing"]["5"]
        assert theirs["joint"]["sealed"] is True
        assert theirs["joint"]["at"]["5"]["different"] == joint[name]["at"]["5"]
        assert (theirs["partition"]["depth"], theirs["query_form"]) == (20, rows[name]["form"])


@pytest.mark.parametrize("lost", [None, "rule_failed: E", "twice", "no_selection"])
def test_declared_runs_have_the_status_of_lost_rows(tmp_path: Path, lost: str | None) -> None:
    """A row that is missing, was not run, or stands twice."""
    questions = [question("a", "u"), question("b", None if lost == "no_selection" else "u")]
    lists = {"a": at(1)} | ({"b": lost} if lost and lost != "twice" else {})
    lines = ranked(questions, "title", "reserved:x", lists)
    lines = [*lines, *lines] if lost == "twice" else lines
    folder = freeze(tmp_path / "made", questions, {("title", "reserved:x"): lines}, pages=["u"])
    [theirs] = declared(folder, tmp_path / "out", "--cutoff", "3").values()
    assert theirs["run_status"] == rows_of(folder, 5)[0]["run_status"]
    assert theirs["run_status"] == ("RUN_INVALID" if lost == "twice" else "RUN_UNVERIFIABLE")


def test_a_sealed_folder_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither are two runs written to one folder."""
    folder, out = simple(tmp_path / "made"), str(tmp_path / "out")
    assert run("study", "declare", folder, "--out", out)[0] == 0
    assert "is there already" in failing(monkeypatch, capsys, "declare", folder, "--out", out)
    assert "--at 21" in failing(monkeypatch, capsys, "declare", folder, "--out", out, "--cutoff", "21")
    alike = [question("a", "u", selector=selector) for selector in ("x/y", "x_y")]
    folder = freeze(tmp_path / "alike", alike, {("title", "x"): ranked(alike, "title", "x", {"a": ["u"]})})
    line = failing(monkeypatch, capsys, "declare", folder, "--out", str(tmp_path / "other"))
    assert "two runs would be written to it" in line
