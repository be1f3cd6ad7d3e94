"""Frozen rankings written for the tools of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pytrec_eval

from tests.study.commands import Command
from tests.study.frozen import Row, freeze, page, question, ranking

ROWS = [question("q1"), question("q2"), question("q3")]
LISTS = [["a", "q1-u", "b"], ["c"], None]


def frozen(folder: Path, rows: list[Row], lists: list[list[str] | None]) -> Path:
    rankings = [ranking(row, ids) for row, ids in zip(rows, lists, strict=True)]
    return freeze(folder, rows, {"title.bm25_body": rankings}, [page("a", "text")])


def export(study: Command, folder: Path, kind: str, *options: object) -> tuple[str, int, str]:
    out = folder / "run"
    ended = study("export", folder, "--form", "title", "--rule", "bm25_body", "--to", kind, "--out", out, *options)
    return (out.read_text() if out.exists() else ""), ended.code, ended.err


def test_trec(tmp_path: Path, study: Command) -> None:
    """A tool of TREC reads the same ranks, and rows without a ranking are counted."""
    text, code, err = export(study, frozen(tmp_path, ROWS, LISTS), "trec")
    assert text.splitlines()[:2] == ["q1 Q0 a 1 3.0 title.bm25_body", "q1 Q0 q1-u 2 2.0 title.bm25_body"]
    assert (code, "1 planned rows have no ranking to write: 1 empty_query" in err) == (1, True)
    run = pytrec_eval.parse_run(text.splitlines())
    scores = pytrec_eval.RelevanceEvaluator({"q1": {"q1-u": 1}}, {"recip_rank"}).evaluate(run)
    assert scores["q1"]["recip_rank"] == 0.5


def test_ranx(tmp_path: Path, study: Command) -> None:
    """JSON of documents with scores for each query."""
    text, code, _ = export(study, frozen(tmp_path, ROWS[:2], LISTS[:2]), "ranx")
    assert (json.loads(text), code) == ({"q1": {"a": 3.0, "q1-u": 2.0, "b": 1.0}, "q2": {"c": 1.0}}, 0)


@pytest.mark.parametrize("kind", ["trec", "ranx"])
def test_there_and_back(tmp_path: Path, study: Command, kind: str) -> None:
    """What was exported is imported as the same lists, also where scores are equal or do not fall."""
    rows = [question(f"q{number}") for number in range(3)]
    lists: list[list[str] | None] = [["b", "a", "c"], ["x"], []]
    rankings = [ranking(row, ids) for row, ids in zip(rows, lists, strict=True)]
    rankings[0]["scores"] = [1.0, 1.0, 5.0]
    freeze(tmp_path, rows, {"title.bm25_body": rankings}, [])
    _, code, _ = export(study, tmp_path, kind)
    assert code == 0
    assert study("import", kind, "--run", tmp_path / "run", "--out", tmp_path / "back").code == 0
    (file,) = (tmp_path / "back" / "rankings").iterdir()
    found = {row["id"]: row["ids"] for row in map(json.loads, file.read_text().splitlines())}
    assert {key: ids for key, ids in found.items() if ids} == {"q0": ["b", "a", "c"], "q1": ["x"]}


def test_selectors(tmp_path: Path, study: Command) -> None:
    """A run holds one row a question: where there are several selectors, one is named."""
    rows = [question("q1", selector="human"), question("q1", selector="model")]
    folder = frozen(tmp_path, rows, [["a"], ["b"]])
    assert "several selectors, name one: human, model" in export(study, folder, "trec")[2]
    assert "no selector 'none' but: human, model" in export(study, folder, "trec", "--selector", "none")[2]
    assert export(study, folder, "trec", "--selector", "model")[0].startswith("q1 Q0 b ")


def test_what_no_run_can_hold(tmp_path: Path, study: Command) -> None:
    """An ID with blanks, and a page that is ranked twice, are refused by name."""
    assert "'a b'" in export(study, frozen(tmp_path, ROWS[:1], [["a b"]]), "trec")[2]
    assert export(study, tmp_path, "ranx")[1] == 0
    (tmp_path / "run").unlink()
    text, code, err = export(study, frozen(tmp_path, ROWS[:1], [["a", "a"]]), "ranx")
    assert (text, code, "'q1' names a page twice" in err) == ("", 2, True)


def test_a_folder_that_cannot_be_trusted(tmp_path: Path, study: Command) -> None:
    """A changed ranking, one that was not made, and a folder without a manifest are one sentence each."""
    folder = frozen(tmp_path / "dir", ROWS, LISTS)
    file = folder / "rankings" / "title.bm25_body.jsonl"
    file.write_bytes(file.read_bytes().replace(b"q1-u", b"q2-u"))
    assert "has changed since its manifest was written" in export(study, folder, "trec")[2]
    ended = study("export", folder, "--form", "cell", "--rule", "key", "--out", tmp_path / "run")
    assert "lists no rankings/cell.key.jsonl" in ended.refusal
    (folder / "manifest.json").write_text("[]")
    assert "manifest.json" in export(study, folder, "trec")[2]
    (folder / "manifest.json").write_text("{")
    assert export(study, folder, "trec")[1] == 2
    (folder / "manifest.json").unlink()
    assert "manifest.json" in export(study, folder, "trec")[2]
