"""Recorded answers of two rankings, one of which shows the selected passage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.frozen import Row, freeze, json_lines, question, ranking
from tests.study.omitting import Omit, ids_of, pages_of, report


def test_recorded_answers(folder: Path, omit: Omit) -> None:
    """Where one ranking shows the selected passage and another does not, their recorded answers are compared."""
    rows = [question(f"q{number}") for number in range(6)]
    rows[5]["gold_ids"] = ["q5-1"]
    pages = [each for row in rows for each in pages_of(row["id"])]
    with_it = [ranking(row, ids_of(row["id"])) for row in rows]
    without = [ranking(row, [*ids_of(row["id"])[2:], "q0-1", "q0-2"], form="question") for row in rows]
    without[1] = ranking(rows[1], ids_of("q1"), form="question")  # both show it
    without[2] = ranking(rows[2], ["q2-1"], form="question")  # fewer than five passages
    freeze(folder / "dir", rows, {"title.bm25_body": with_it, "question.bm25_body": without}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))
    answers = [
        {"id": row["id"], "form": form, "rule": "bm25_body", "answer": answer}
        for row in rows[:4]
        for form, answer in (("title", f"the answer {row['id']}"), ("question", None))
    ]
    answers[1]["answer"] = "Answer q0!"
    (folder / "answers.jsonl").write_bytes(json_lines(answers))
    ended = omit("knows", "--answers", folder / "answers.jsonl")
    assert ended.code == 0
    (found,) = report(folder)["association"]
    assert found["pair"] == ["question.bm25_body", "title.bm25_body"]
    assert (found["n"], found["without_answer"], found["questions"]) == (2, 1, 2)  # q0, q3; q4 has no answer
    assert (found["return_exact"], found["omit_exact"], found["difference"]) == (1.0, 0.5, 0.5)
    assert "an association only" in ended.out


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"id": "q0", "form": "title", "answer": "x"}], "answers.jsonl:1: an answer has to have"),
        ([{"id": "q9", "form": "title", "rule": "bm25_body", "answer": "x"}], "no planned row has the id 'q9'"),
        (
            [{"id": "q0", "form": "title", "rule": "bm25_body", "answer": "x"}] * 2,
            "answers.jsonl:2: the answer of 'q0'",
        ),
        ([{"id": "q0", "form": "title", "rule": "none", "answer": "x"}], "lists no rankings/title.none.jsonl"),
    ],
)
def test_recorded_answers_that_cannot_be_used(folder: Path, omit: Omit, rows: list[Row], reason: str) -> None:
    """An answer that belongs to nothing, or is there twice, is refused with its line."""
    (folder / "answers.jsonl").write_bytes(json_lines(rows))
    assert reason in omit("knows", "--answers", folder / "answers.jsonl").refusal
