"""Cohorts drawn by fixed rules."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from rop_otel.study.cohort_drawing import FILTERS, TERMS
from tests.study.commands import Command
from tests.study.frozen import json_lines

PASSAGE = {"cell": "Bern", "row": 0, "col": 0, "link": "/wiki/Bern", "where": "passage"}
TABLE_NODE = {"cell": "7", "row": 0, "col": 1, "link": None, "where": "table"}
TABLE = {
    "id": "T_0",
    "rows": [[{"text": "New-Bern", "links": ["/wiki/Bern"]}, "plain", {"text": "東京", "links": ["x"]}]],
}


def row(key: str, **fields: Any) -> dict[str, Any]:
    """Return a question that passes every filter, unless it is said otherwise."""
    return {"id": key, "question": "Who lives there ?", "table_id": "T_0", "answer_nodes": [PASSAGE]} | fields


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def drawn(study: Command, folder: Path, questions: list[dict[str, Any]], *options: object) -> dict[str, Any]:
    """Draw a cohort of questions about tables T_0 to T_9, and return its account."""
    (folder / "questions.jsonl").write_bytes(json_lines(questions))
    (folder / "tables.jsonl").write_bytes(json_lines(TABLE | {"id": f"T_{number}"} for number in range(10)))
    ended = study(
        *("cohort", "--questions", folder / "questions.jsonl", "--tables", folder / "tables.jsonl"),
        *("--salt", "pepper", "--out", folder / "cohort", *options),
    )
    assert ended.code == 0, ended.err
    account: dict[str, Any] = json.loads((folder / "cohort" / "cohort.json").read_text())
    return account


@pytest.mark.parametrize(
    ("fields", "filtered"),
    [
        ({}, None),
        ({"answer_nodes": []}, "no_trace"),
        ({"answer_nodes": [PASSAGE, TABLE_NODE]}, "answer_in_table"),
        ({"answer_nodes": [TABLE_NODE]}, "answer_in_table"),
        ({"answer_nodes": [PASSAGE, PASSAGE]}, "not_one_linked_passage"),
        ({"answer_nodes": [PASSAGE | {"link": None}]}, "not_one_linked_passage"),
        ({"table_id": "T_99"}, "no_table"),
        ({"question": "Who lives in NEW bern ?"}, "linked_label_in_question"),
        ({"question": "Who lives in New Bernstein ?"}, None),
        ({"question": "What is plain ?"}, None),
        ({"question": "東京 ?"}, None),
        ({"question": "Who is the Second-best ?"}, "listed_term"),
        ({"question": "Which has more  than two ?"}, "listed_term"),
        ({"question": "Which has more people than two ?"}, None),
        ({"question": "Who positioned the seconds ?"}, None),
    ],
)
def test_filters(tmp_path: Path, study: Command, fields: dict[str, Any], filtered: str | None) -> None:
    """A question is removed for the first reason that holds, and each reason counts what it met."""
    account = drawn(study, tmp_path, [row("q1", **fields)])
    assert account["ids"] == ([] if filtered else ["q1"])
    assert {name for name in FILTERS if account["removed"][name]["removed"]} == ({filtered} if filtered else set())
    assert all(each["met"] >= each["removed"] for each in account["removed"].values())


def test_every_listed_term() -> None:
    """The list is the paper's."""
    paper = """most, least, highest, lowest, largest, smallest, biggest, oldest, youngest, first, second, third, last,
        latest, earliest, more than, less than, finished, winner, won, gold, silver, bronze, position, ranked"""
    assert list(TERMS) == [term.strip() for term in paper.split(",")]


def test_order_and_limits(tmp_path: Path, study: Command) -> None:
    """The order is that of the salted hashes, whatever the order of the file; a table gives one question."""
    questions = [row(f"q{number}", table_id=f"T_{number % 7}") for number in range(30)]
    account = drawn(study, tmp_path, questions, "--first", 5)
    by_hand = sorted(questions, key=lambda each: hashlib.sha256(f"pepper:{each['id']}".encode()).hexdigest())
    first_of_table = {each["table_id"]: each["id"] for each in reversed(by_hand)}
    expected = [each["id"] for each in by_hand if first_of_table[each["table_id"]] == each["id"]]
    assert account["ids"] == expected[:5]
    assert account["left_out"]["table_taken"]["left_out"] == 30 - 7
    assert account["left_out"]["past_the_first"]["left_out"] == 2
    assert account["cohort_sha256"] == hashlib.sha256("".join(f"{key}\n" for key in expected[:5]).encode()).hexdigest()
    assert [each["id"] for each in lines(tmp_path / "cohort" / "questions.jsonl")] == expected[:5]
    assert [each["id"] for each in lines(tmp_path / "cohort" / "eligible.jsonl")] == [each["id"] for each in by_hand]
    random.Random(7).shuffle(questions)
    assert drawn(study, tmp_path, questions, "--first", 5)["ids"] == expected[:5]
    assert drawn(study, tmp_path, questions)["ids"] == expected


def test_every_question_is_accounted_for(tmp_path: Path, study: Command) -> None:
    """What is removed, left out and drawn adds up to what was given, and the sources are named by their hashes."""
    questions = [row(f"q{number}", answer_nodes=[PASSAGE] * (number % 3)) for number in range(12)]
    account = drawn(study, tmp_path, questions, "--first", 1)
    removed = sum(each["removed"] for each in account["removed"].values())
    assert removed + account["eligible"] == account["questions"] == 12
    left_out = sum(each["left_out"] for each in account["left_out"].values())
    assert left_out + account["cohort"] == account["eligible"]
    assert [each["name"] for each in account["sources"]] == ["questions.jsonl", "tables.jsonl"]
    assert account["sources"][0]["sha256"] == hashlib.sha256((tmp_path / "questions.jsonl").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        (b'{"id": "q1", "que', "questions.jsonl:1: no JSON"),
        (b'{"id": "q1"}\n', "questions.jsonl:1: 'question' has to be a non-empty string"),
        (b'{"id": "q1", "question": "?", "answer_nodes": 7}\n', "questions.jsonl:1: 'answer_nodes'"),
        (b"", "no question in it"),
        (json_lines([row("q1"), row("q1")]), "questions.jsonl:2: the id 'q1' is there twice"),
        (b"<html>", "questions.jsonl:1: no JSON"),
    ],
)
def test_questions_that_cannot_be_used(tmp_path: Path, study: Command, questions: bytes, reason: str) -> None:
    """A smaller cohort would be another one: a bad row ends it, in one sentence."""
    (tmp_path / "questions.jsonl").write_bytes(questions)
    (tmp_path / "tables.jsonl").write_bytes(json_lines([TABLE]))
    ended = study(
        *("cohort", "--questions", tmp_path / "questions.jsonl", "--tables", tmp_path / "tables.jsonl"),
        *("--salt", "pepper", "--out", tmp_path / "cohort"),
    )
    assert reason in ended.refusal
    assert not (tmp_path / "cohort").exists()


def test_tables_that_cannot_be_used(tmp_path: Path, study: Command) -> None:
    """A table without rows, and one that is there twice."""
    (tmp_path / "questions.jsonl").write_bytes(json_lines([row("q1")]))
    for tables, reason in (([{"id": "T"}], "a table has to have"), ([TABLE, TABLE], "the table 'T_0' is there twice")):
        (tmp_path / "tables.jsonl").write_bytes(json_lines(tables))
        ended = study(
            *("cohort", "--questions", tmp_path / "questions.jsonl", "--tables", tmp_path / "tables.jsonl"),
            *("--salt", "pepper", "--out", tmp_path / "cohort"),
        )
        assert reason in ended.refusal


def test_the_papers_filters_on_real_data(shared_data: Path, tmp_path: Path, study: Command) -> None:
    """Of all questions with their tables, exactly those pass that were found to pass without this code."""
    source = shared_data / "hybridqa"
    ended = study(
        *("cohort", "--questions", source / "full" / "questions_dev.jsonl"),
        *("--tables", source / "full" / "tables.jsonl.gz", "--salt", "pepper", "--out", tmp_path),
    )
    assert ended.code == 0
    expected = {each["id"] for each in lines(source / "dev_work" / "questions.jsonl")}
    assert len(expected) == 303
    assert {each["id"] for each in lines(tmp_path / "eligible.jsonl")} == expected
