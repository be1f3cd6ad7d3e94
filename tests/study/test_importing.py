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
from tests.study.frozen import rows

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


def test_an_import_that_fails_leaves_no_account(published: Path, study: Command) -> None:
    """The account of an earlier import does not vouch for what a failed one left."""
    hybridqa(study, published)
    (published / "tables_tok" / "T_0.json").write_text("{")
    assert hybridqa(study, published).code == 2
    assert not (published / "ours" / "import.json").exists()


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
    """The same passage in two files is one page; another text under its link is named, and so is what is no text."""
    folder = published / "request_tok"
    (folder / "T_1.json").write_text(json.dumps({"/wiki/Bern": "Ann lives there ."}))
    assert hybridqa(study, published).code == 0
    (folder / "T_2.json").write_text(json.dumps({"/wiki/Bern": "Another .", "/wiki/Basel": None}, indent=0))
    ended = hybridqa(study, published)
    assert ended.code == 1
    assert "T_2.json:2: the id '/wiki/Bern' is there twice" in ended.err
    assert "T_2.json:3: the passage '/wiki/Basel' has to be a string" in ended.err
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
