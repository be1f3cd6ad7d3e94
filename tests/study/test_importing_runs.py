"""Rankings and judgments of TREC, ranx and BEIR read as ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.study.commands import Command
from tests.study.frozen import rows

RUN = "q1 Q0 d1 1 2.5 sys\nq1 Q0 d2 2 2.5 sys\nq1 Q0 d3 3 9 sys\nq2 Q0 d1 1 -1 sys\n"
RANKINGS = [("q1", ["d3", "d1", "d2"], [9.0, 2.5, 2.5]), ("q2", ["d1"], [-1.0])]


def rankings(file: Path) -> list[tuple[str, list[str], list[float]]]:
    return [(row["id"], row["ids"], row["scores"]) for row in rows(file)]


def test_trec(tmp_path: Path, study: Command) -> None:
    """A run is ordered by score, ties by rank, and judgments and topics become questions."""
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\nq1 0 d1 0\nq3 0 d1 2\n")
    (tmp_path / "topics.tsv").write_text("q1\tWhat is it?\nq9\tNever judged\n")
    ended = study(
        *("import", "trec", "--out", tmp_path / "ours", "--run", tmp_path / "run.txt", "--form", "title"),
        *("--qrels", tmp_path / "qrels.txt", "--questions", tmp_path / "topics.tsv"),
    )
    assert ended.code == 0
    file = tmp_path / "ours" / "rankings" / "title.sys.jsonl"
    assert rankings(file) == RANKINGS
    assert {(row["form"], row["rule"], row["selector"]) for row in rows(file)} == {("title", "sys", "default")}
    assert rows(tmp_path / "ours" / "questions.jsonl") == [{"id": "q1", "question": "What is it?", "gold_ids": ["d2"]}]
    assert rows(tmp_path / "ours" / "judgments.jsonl")[0] == {
        "id": "q1",
        "gold_ids": ["d2"],
        "grades": {"d2": 1, "d1": 0},
    }
    assert "left out: 1 questions without a judgment" in ended.out
    assert "left out: 1 judged queries without a question" in ended.out


def test_trec_lines_that_are_none(tmp_path: Path, study: Command) -> None:
    """Each bad line of a run and of judgments is named with its number."""
    (tmp_path / "run.txt").write_bytes(
        RUN.encode() + b"q1 Q0 d1 4 1 sys\nq1 Q0 d9 5 nan sys\nq1 Q0 d9 x 1 sys\nq1 Q0 d9\n\n\xff\n"
    )
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\nq1 0 d2 2\nq1 0 d2 high\nq1 d2 1\n")
    ended = study(
        *("import", "trec", "--out", tmp_path / "ours", "--run", tmp_path / "run.txt"),
        *("--qrels", tmp_path / "qrels.txt"),
    )
    assert ended.code == 1
    named = [(Path(row["file"]).name, row["line"]) for row in rows(tmp_path / "ours" / "problems.jsonl")]
    of_run, of_qrels = (5, 6, 7, 8, 10), (2, 3, 4)
    assert named == [*(("run.txt", line) for line in of_run), *(("qrels.txt", line) for line in of_qrels)]
    assert rankings(tmp_path / "ours" / "rankings" / "question.sys.jsonl") == RANKINGS


@pytest.mark.parametrize("content", ["<html>\nnot found\n</html>\n", "", "one word\n", "\n\n"])
def test_no_run_at_all(tmp_path: Path, study: Command, content: str) -> None:
    """A file without a single line of a run is refused in one sentence."""
    (tmp_path / "run.txt").write_text(content)
    assert "run.txt" in study("import", "trec", "--out", tmp_path / "ours", "--run", tmp_path / "run.txt").refusal


def test_names_of_runs(tmp_path: Path, study: Command) -> None:
    """A tag that is no file's name is made one, and two runs of one name are refused."""
    (tmp_path / "blank.txt").write_text("q1 Q0 d1 1 1 my run \n")  # as ranx 0.3.21 writes a run of this name
    assert study("import", "trec", "--out", tmp_path / "blank", "--run", tmp_path / "blank.txt").code == 0
    assert [file.name for file in (tmp_path / "blank" / "rankings").iterdir()] == ["question.my_run.jsonl"]
    (tmp_path / "a.txt").write_text("q1 Q0 d1 1 1 ../x:y\n")
    assert study("import", "trec", "--out", tmp_path / "ours", "--run", tmp_path / "a.txt").code == 0
    assert [file.name for file in (tmp_path / "ours" / "rankings").iterdir()] == ["question._x+y.jsonl"]
    shutil.copy(tmp_path / "a.txt", tmp_path / "b.txt")
    ended = study("import", "trec", "--out", tmp_path / "ours", "--run", tmp_path / "a.txt", tmp_path / "b.txt")
    assert "two runs are called" in ended.refusal


def test_ranx(tmp_path: Path, study: Command) -> None:
    """Runs and judgments in the JSON of ranx."""
    (tmp_path / "mine.json").write_text(json.dumps({"q1": {"d1": 2.5, "d2": 2.5, "d3": 9}, "q2": {"d1": -1.0}}))
    (tmp_path / "qrels.json").write_text(json.dumps({"q1": {"d2": 1, "d4": 0}}))
    ended = study(
        *("import", "ranx", "--out", tmp_path / "ours", "--run", tmp_path / "mine.json"),
        *("--qrels", tmp_path / "qrels.json"),
    )
    assert ended.code == 0
    assert rankings(tmp_path / "ours" / "rankings" / "question.mine.jsonl") == RANKINGS
    assert rows(tmp_path / "ours" / "judgments.jsonl")[0]["gold_ids"] == ["d2"]


def test_ranx_values_that_are_none(tmp_path: Path, study: Command) -> None:
    """Scores and grades that are no numbers, and queries without documents, are named."""
    (tmp_path / "mine.json").write_text('{\n"q1": {"d1": 1, "d2": "high", "d3": NaN, "d4": true},\n"q2": []}')
    (tmp_path / "qrels.json").write_text(json.dumps({"q1": {"d2": 1, "d4": 0.5}}))
    ended = study(
        *("import", "ranx", "--out", tmp_path / "ours", "--run", tmp_path / "mine.json"),
        *("--qrels", tmp_path / "qrels.json"),
    )
    assert ended.code == 1
    problems = rows(tmp_path / "ours" / "problems.jsonl")
    assert sorted((Path(row["file"]).name, row["line"]) for row in problems) == [
        *[("mine.json", 2)] * 3,
        ("mine.json", 3),
        ("qrels.json", 1),
    ]
    assert "queries is expected" not in ended.err


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A BEIR folder."""
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    corpus = [{"_id": "d1", "title": "One", "text": "First.", "metadata": {}}, {"_id": "d2", "title": "", "text": ""}]
    queries = [{"_id": "q1", "text": "Which?"}, {"_id": "q2", "text": "Of the training set?"}]
    for name, content in (("corpus", corpus), ("queries", queries)):
        (tmp_path / "set" / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in content))
    (tmp_path / "set" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    return tmp_path / "set"


def test_beir(beir: Path, study: Command) -> None:
    """Passages without title or text are kept; questions of other splits are counted and left out."""
    ended = study("import", "beir", "--folder", beir, "--out", beir / "ours")
    assert ended.code == 0
    assert rows(beir / "ours" / "pages.jsonl") == [
        {"id": "d1", "title": "One", "text": "First."},
        {"id": "d2", "title": "d2", "text": ""},
    ]
    assert rows(beir / "ours" / "questions.jsonl") == [{"id": "q1", "question": "Which?", "gold_ids": ["d2"]}]
    assert "left out: 1 questions without a judgment" in ended.out


def test_beir_lines_that_are_none(beir: Path, study: Command) -> None:
    """A line cut in the middle of a corpus, one without text, and a second one of an ID are named."""
    with open(beir / "corpus.jsonl", "a") as corpus:
        corpus.write('{"_id": "d3", "te\n{"_id": "d4", "text": null}\n{"_id": "d1", "text": "other"}\n[]\n')
    with open(beir / "qrels" / "test.tsv", "a") as qrels:
        qrels.write("q1 d1 1\n")
    ended = study("import", "beir", "--folder", beir, "--out", beir / "ours")
    assert ended.code == 1
    named = [(Path(row["file"]).name, row["line"]) for row in rows(beir / "ours" / "problems.jsonl")]
    assert named == [("corpus.jsonl", line) for line in (3, 4, 5, 6)] + [("test.tsv", 3)]
    assert len(rows(beir / "ours" / "pages.jsonl")) == 2


def test_a_split_that_is_not_there(beir: Path, study: Command) -> None:
    """The file of judgments that was looked for is named."""
    ended = study("import", "beir", "--folder", beir, "--split", "dev", "--out", beir / "ours")
    assert "dev.tsv" in ended.refusal
