"""The bundled questions: enough of them, honest ones, each answerable from the reference corpus."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

from rop_otel.reference.corpus import Corpus

LEAST_QUESTIONS = 150
LEAST_PAIRS = 20
MOST_NAMED = 0.5


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """The bundled questions as they stand in the file."""
    text = files("rop_otel.reference").joinpath("data/questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def names_its_symbol(line: dict[str, Any]) -> bool:
    """Whether a question contains the last name of a symbol that it is judged by, in any case."""
    return any(gold.rpartition(".")[2].casefold() in line["question"].casefold() for gold in line["gold_ids"])


def test_every_line_is_a_judged_question(lines: list[dict[str, Any]]) -> None:
    """Each line holds an id, a question and one or two different symbols, and nothing else."""
    for line in lines:
        assert set(line) == {"id", "question", "gold_ids"}, line
        assert line["question"] == line["question"].strip() != "", line
        assert line["question"].endswith("?"), line
        assert 1 <= len(line["gold_ids"]) == len(set(line["gold_ids"])) <= 2, line


def test_there_are_enough_different_questions(lines: list[dict[str, Any]]) -> None:
    """At least 150 questions, no id and no wording twice."""
    assert len(lines) >= LEAST_QUESTIONS
    for field in ("id", "question"):
        assert [value for value, times in Counter(line[field] for line in lines).items() if times > 1] == []


def test_some_questions_need_two_symbols(lines: list[dict[str, Any]]) -> None:
    """At least 20 questions are judged by two symbols, so that a partly lost answer shows."""
    assert sum(len(line["gold_ids"]) == 2 for line in lines) >= LEAST_PAIRS


def test_most_questions_do_not_name_their_symbol(lines: list[dict[str, Any]]) -> None:
    """At most half of the questions give the symbol's name away, so that retrieval cannot win by string match."""
    assert sum(map(names_its_symbol, lines)) <= MOST_NAMED * len(lines)


def test_every_judged_symbol_is_in_the_corpus(lines: list[dict[str, Any]], library: Corpus) -> None:
    """Each symbol resolves to an object of the corpus, and the two of a pair to different ones."""
    for line in lines:
        keys = [library.resolver.resolve(gold) for gold in line["gold_ids"]]
        assert None not in keys, (line["id"], line["gold_ids"], keys)
        assert len(set(keys)) == len(keys), (line["id"], keys)
