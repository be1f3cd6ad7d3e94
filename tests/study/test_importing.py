"""Published formats read as ours."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.study.importing import json_documents
from rop_otel.study.importing.json_documents import read_members
from tests.study.commands import Command, Ended

NODES = [["Bern", [0, 1], "/wiki/Bern", "passage"], ["7", [0, 0], None, "table"]]
QUESTION = {
    "question_id": "q1",
    "question": "Who ?",
    "table_id": "T_0",
    "answer-text": "Ann",
    "question_postag": "WP .",
    "answer-node": NODES,
}
TABLE = {
    "title": "T",
    "url": "https://en.wikipedia.org/wiki/T",
    "header": [["City", ["/wiki/City"]], ["No", []]],
    "data": [[["Bern", ["/wiki/Bern"]], ["7", []]]],
    "section_title": "S",
    "section_text": "",
    "uid": "T_0",
    "intro": "I",
}
OURS: dict[str, list[dict[str, Any]]] = {
    "questions.jsonl": [
        {
            "id": "q1",
            "question": "Who ?",
            "answer": "Ann",
            "table_id": "T_0",
            "gold_ids": ["/wiki/Bern"],
            "answer_nodes": [
                {"cell": "Bern", "row": 0, "col": 1, "link": "/wiki/Bern", "where": "passage"},
                {"cell": "7", "row": 0, "col": 0, "link": None, "where": "table"},
            ],
        }
    ],
    "tables.jsonl": [
        {
            "id": "T_0",
            "title": "T",
            "url": "https://en.wikipedia.org/wiki/T",
            "section_title": "S",
            "intro": "I",
            "header": ["City", "No"],
            "rows": [[{"text": "Bern", "links": ["/wiki/Bern"]}, "7"]],
            "linked_ids": ["/wiki/Bern", "/wiki/City"],
        }
    ],
    "pages.jsonl": [{"id": "/wiki/Bern", "title": "Bern", "text": "Ann lives there ."}],
}
RUN = "q1 Q0 d1 1 2.5 sys\nq1 Q0 d2 2 2.5 sys\nq1 Q0 d3 3 9 sys\nq2 Q0 d1 1 -1 sys\n"
RANKINGS = [("q1", ["d3", "d1", "d2"], [9.0, 2.5, 2.5]), ("q2", ["d1"], [-1.0])]


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def rankings(file: Path) -> list[tuple[str, list[str], list[float]]]:
    return [(row["id"], row["ids"], row["scores"]) for row in rows(file)]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """HybridQA's files, as small as they can be."""
    (tmp_path / "dev.traced.json").write_text(json.dumps([QUESTION], indent=2))
    for folder, content in (("tables_tok", TABLE), ("request_tok", {"/wiki/Bern": "Ann lives there ."})):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "T_0.json").write_text(json.dumps(content, indent=2))
    return tmp_path


def hybridqa(study: Command, folder: Path) -> Ended:
    return study(
        *("import", "hybridqa", "--out", folder / "ours", "--questions", folder / "dev.traced.json"),
        *("--tables", folder / "tables_tok", "--passages", folder / "request_tok"),
    )


def test_hybridqa(published: Path, study: Command) -> None:
    """Questions, tables and passages are there with links and judged passages, and every row was used."""
    assert hybridqa(study, published).code == 0
    assert {name: rows(published / "ours" / name) for name in OURS} == OURS
    account = json.loads((published / "ours" / "import.json").read_text())
    assert [each["rows"] for each in account["outputs"]] == [1, 1, 1]
    assert account["problems"] == 0


def test_ottqa(published: Path, study: Command) -> None:
    """One file of all tables, with cells without links, and one of all passages, compressed or not."""
    plain = TABLE | {"header": ["City", "No"], "data": [["Bern", "7"]]}
    (published / "all_plain_tables.json").write_text(json.dumps({"T_0": plain, "T_1": TABLE}))
    (published / "all_passages.json.gz").write_bytes(gzip.compress(json.dumps({"/wiki/Bern": "Ann ."}).encode()))
    ended = study(
        *("import", "ottqa", "--out", published / "ours", "--tables", published / "all_plain_tables.json"),
        *("--passages", published / "all_passages.json.gz"),
    )
    assert ended.code == 0
    first, second = rows(published / "ours" / "tables.jsonl")
    assert (first["rows"], first["linked_ids"]) == ([["Bern", "7"]], [])
    assert second == OURS["tables.jsonl"][0] | {"id": "T_1"}
    assert rows(published / "ours" / "pages.jsonl") == [{"id": "/wiki/Bern", "title": "Bern", "text": "Ann ."}]


def test_a_test_set_has_no_answers(published: Path, study: Command) -> None:
    """A question without answer and trace keeps what it has."""
    blind = {name: QUESTION[name] for name in ("question_id", "question", "table_id")}
    (published / "dev.traced.json").write_text(json.dumps([blind]))
    assert hybridqa(study, published).code == 0
    assert rows(published / "ours" / "questions.jsonl") == [{"id": "q1", "question": "Who ?", "table_id": "T_0"}]


def test_a_second_import_is_the_same(published: Path, study: Command) -> None:
    """The same files give the same bytes."""
    hybridqa(study, published)
    before = {file.name: file.read_bytes() for file in (published / "ours").iterdir()}
    hybridqa(study, published)
    assert {file.name: file.read_bytes() for file in (published / "ours").iterdir()} == before


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({**QUESTION, "question": None}, "'question' has to be a non-empty string"),
        ({**QUESTION, "question": " "}, "'question' has to be a non-empty string"),
        ({name: QUESTION[name] for name in ("question_id", "question")}, "'table_id'"),
        ({**QUESTION, "answer-node": [["Bern", 0, "/wiki/Bern", "passage"]]}, "'answer-node'"),
        ({**QUESTION, "answer-node": "Bern"}, "'answer-node'"),
        ({**QUESTION, "answer-text": 7}, "'answer-text'"),
        ("a string", "has to be an object"),
        ({**QUESTION, "question": "half \ud800 of a pair"}, "surrogate"),
        (QUESTION, "the id 'q1' is there twice"),
    ],
)
def test_a_question_that_cannot_be_used_is_named(published: Path, study: Command, wrong: object, reason: str) -> None:
    """Its file, line and reason are reported, the others are read, and the exit code says so."""
    (published / "dev.traced.json").write_text(json.dumps([QUESTION, wrong], indent=1))
    line = json.dumps([QUESTION], indent=1).count("\n") + 1
    ended = hybridqa(study, published)
    assert ended.code == 1
    assert f"dev.traced.json:{line}: " in ended.err
    assert reason in ended.err
    assert "1 rows could not be used" in ended.err
    assert rows(published / "ours" / "questions.jsonl") == OURS["questions.jsonl"]
    (problem,) = rows(published / "ours" / "problems.jsonl")
    assert (problem["line"], json.loads((published / "ours" / "import.json").read_text())["problems"]) == (line, 1)


@pytest.mark.parametrize(
    "wrong",
    [{"data": []}, {"header": [], "data": [7]}, {"header": [["a", [7]]], "data": []}, {"header": [7], "data": [[]]}],
)
def test_a_table_that_cannot_be_used_is_named(published: Path, study: Command, wrong: dict[str, Any]) -> None:
    """A table without header or rows, or with a cell that is none, is a row that is named."""
    (published / "tables_tok" / "T_1.json").write_text(json.dumps(wrong))
    ended = hybridqa(study, published)
    assert (ended.code, len(rows(published / "ours" / "tables.jsonl"))) == (1, 1)
    assert "T_1.json:1: the table 'T_1' has" in ended.err


def test_a_passage_of_several_tables(published: Path, study: Command) -> None:
    """The same passage in two files is one page; another text under its link is named, and so is an empty one."""
    folder = published / "request_tok"
    (folder / "T_1.json").write_text(json.dumps({"/wiki/Bern": "Ann lives there ."}))
    assert hybridqa(study, published).code == 0
    (folder / "T_2.json").write_text(json.dumps({"/wiki/Bern": "Another .", "/wiki/Basel": ""}, indent=0))
    ended = hybridqa(study, published)
    assert ended.code == 1
    assert "T_2.json:2: the id '/wiki/Bern' is there twice" in ended.err
    assert "T_2.json:3: the passage '/wiki/Basel' has to be a non-empty string" in ended.err
    assert rows(published / "ours" / "pages.jsonl") == OURS["pages.jsonl"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps([QUESTION, QUESTION], indent=1)[:-40], "cut short"),
        (json.dumps([QUESTION])[:-1], "cut short"),
        (json.dumps([QUESTION])[:-30], "cut short"),
        ("", "cut short"),
        ('[{"question_id": "q1",,}]', "no JSON"),
        (json.dumps([QUESTION]) + "[]", "something stands behind"),
        (json.dumps([QUESTION])[:-1] + ",]", "a comma stands before the end"),
        ("<!DOCTYPE html>\n<html>Sign in</html>", "HTML"),
        ("null", "a JSON array or object is expected"),
        ("{}", "no question in it can be used"),
        ('{"q1": {}}', "an array of questions is expected"),
        ("[]", "no question in it can be used"),
        ('[{"question_id": 7}]', "no question in it can be used, the first because of this: "),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_download(published: Path, study: Command, content: str, reason: str) -> None:
    """A truncated, broken or wrong file is refused in one sentence that names it, and nothing is written for it."""
    (published / "dev.traced.json").write_text(content)
    refusal = hybridqa(study, published).refusal
    assert "dev.traced.json" in refusal
    assert reason in refusal
    assert not list((published / "ours").glob("questions*"))


def test_broken_json_in_the_middle_names_the_line(published: Path, study: Command) -> None:
    """The sentence names the line at which the JSON breaks."""
    lines = json.dumps([QUESTION] * 3, indent=1).splitlines()
    place = len(lines) // 2
    lines[place] = lines[place] + " }}"
    (published / "dev.traced.json").write_text("\n".join(lines))
    assert f"dev.traced.json:{place + 1}: " in hybridqa(study, published).refusal


def test_compressed_data_that_is_cut(published: Path, study: Command) -> None:
    """A gzip file whose end is missing is refused, not read as far as it goes."""
    packed = gzip.compress(json.dumps([QUESTION] * 100).encode())
    (published / "dev.traced.json").write_bytes(packed[:-10])
    assert "cut short" in hybridqa(study, published).refusal


def test_bytes_that_are_no_text(published: Path, study: Command) -> None:
    """A file that is no UTF-8 is refused by name."""
    (published / "dev.traced.json").write_bytes(b'["\xff"]')
    assert "dev.traced.json" in hybridqa(study, published).refusal


def test_what_is_not_there(published: Path, study: Command) -> None:
    """A missing file and an empty folder are one sentence."""
    shutil.rmtree(published / "tables_tok")
    assert "tables_tok" in hybridqa(study, published).refusal
    (published / "tables_tok").mkdir()
    assert "there is no JSON file in this folder" in hybridqa(study, published).refusal
    assert "nothing was named" in study("import", "ottqa", "--out", published / "ours").refusal
    assert "needs --folder" in study("import", "beir", "--out", published / "ours").refusal


def test_members_longer_than_what_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members and their lines come out whole wherever the pieces of the file end."""
    value: dict[str, Any] = {f"k{n}": ["x" * n, n, {"é\n": None}] for n in range(60)}
    file = tmp_path / "big.json"
    file.write_text(json.dumps(value, indent=1))
    expected = [(line, key, each) for line, key, each in read_members(str(file), Digest())]
    assert [(key, each) for _, key, each in expected] == list(value.items())
    for piece in (1, 2, 3, 7):
        monkeypatch.setattr(json_documents, "_PIECE", piece)
        digest = Digest()
        assert list(read_members(str(file), digest)) == expected
        assert digest.bytes == file.stat().st_size
    file.write_text("[1234567, 8]")
    assert [each for _, _, each in read_members(str(file), Digest())] == [1234567, 8]


def test_a_broken_member_does_not_take_the_file_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that never ends is given up after so many characters."""
    monkeypatch.setattr(json_documents, "_PIECE", 8)
    monkeypatch.setattr(json_documents, "MAX_MEMBER", 100)
    file = tmp_path / "big.json"
    file.write_text('[{"a" 1}' + " " * 10_000 + "]")

    def read() -> Iterator[object]:
        yield from read_members(str(file), Digest())

    with pytest.raises(InputError, match="no JSON"):
        list(read())


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
    corpus = [{"_id": "d1", "title": "One", "text": "First.", "metadata": {}}, {"_id": "d2", "title": "", "text": "2"}]
    queries = [{"_id": "q1", "text": "Which?"}, {"_id": "q2", "text": "Of the training set?"}]
    for name, content in (("corpus", corpus), ("queries", queries)):
        (tmp_path / "set" / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in content))
    (tmp_path / "set" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    return tmp_path / "set"


def test_beir(beir: Path, study: Command) -> None:
    """Passages without a title get their ID as one; questions of other splits are counted and left out."""
    ended = study("import", "beir", "--folder", beir, "--out", beir / "ours")
    assert ended.code == 0
    assert rows(beir / "ours" / "pages.jsonl") == [
        {"id": "d1", "title": "One", "text": "First."},
        {"id": "d2", "title": "d2", "text": "2"},
    ]
    assert rows(beir / "ours" / "questions.jsonl") == [{"id": "q1", "question": "Which?", "gold_ids": ["d2"]}]
    assert "left out: 1 questions without a judgment" in ended.out


def test_beir_lines_that_are_none(beir: Path, study: Command) -> None:
    """A line cut in the middle of a corpus, one without text, and a second one of an ID are named."""
    with open(beir / "corpus.jsonl", "a") as corpus:
        corpus.write('{"_id": "d3", "te\n{"_id": "d4", "text": ""}\n{"_id": "d1", "text": "other"}\n[]\n')
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


def test_published_again_from_real_data(shared_data: Path, tmp_path: Path, study: Command) -> None:
    """Real questions, tables and passages in the published form come back as the very rows that they were made of."""
    source = shared_data / "hybridqa" / "tiny"
    ours = {name: rows(source / f"{name}.jsonl") for name in ("questions", "tables", "passages")}
    questions = [
        {
            "question_id": row["id"],
            "question": row["question"],
            "table_id": row["table_id"],
            "answer-text": row["answer"],
            "answer-node": [
                [node["cell"], [node["row"], node["col"]], node["link"], node["where"]] for node in row["answer_nodes"]
            ],
        }
        for row in ours["questions"]
    ]
    (tmp_path / "dev.traced.json").write_text(json.dumps(questions))
    (tmp_path / "request_tok").mkdir()
    (tmp_path / "tables_tok").mkdir()
    for table in ours["tables"]:
        cells = [
            [[cell, []] if isinstance(cell, str) else [cell["text"], cell["links"]] for cell in row]
            for row in table["rows"]
        ]
        header = [[cell, []] for cell in table["header"]]
        file = tmp_path / "tables_tok" / f"{table['id']}.json"
        file.write_text(json.dumps(table | {"header": header, "data": cells}))
    half = len(ours["passages"]) // 2
    for name, part in (("a", ours["passages"][: half + 9]), ("b", ours["passages"][half:])):
        (tmp_path / "request_tok" / f"{name}.json").write_text(json.dumps({row["id"]: row["text"] for row in part}))
    assert hybridqa(study, tmp_path).code == 0
    kept = ("id", "question", "answer", "table_id", "gold_ids", "answer_nodes")
    assert rows(tmp_path / "ours" / "questions.jsonl") == [
        {name: row[name] for name in kept} for row in ours["questions"]
    ]
    assert rows(tmp_path / "ours" / "pages.jsonl") == ours["passages"]
    found = {row["id"]: row for row in rows(tmp_path / "ours" / "tables.jsonl")}
    assert [found[row["id"]]["rows"] for row in ours["tables"]] == [row["rows"] for row in ours["tables"]]
