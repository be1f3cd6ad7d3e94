"""Deletion studies of four questions, with readers whose behaviour is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.study.commands import Ended
from tests.study.frozen import Row, freeze, json_lines, page, ranking

READERS = """
import time

def knows(question, passages):
    "Answers right exactly where the selected passage is shown."
    key = question.split()[-1].rstrip("?")
    return f"The answer {key}." if any(each.id == f"{key}-u" for each in passages) else "no idea"

def copies(question, passages):
    return "answer q0 " + " ".join(each.title for each in passages)

def raises(question, passages):
    raise KeyError("no such key")

def exits(question, passages):
    raise SystemExit(3)

def none(question, passages):
    return None

def number(question, passages):
    return 7

def surrogate(question, passages):
    return chr(0xD800)

def hangs(question, passages):
    time.sleep(600)

def second_time(question, passages, seen=set()):
    "Fails at the first attempt of everything."
    key = (question, tuple(each.id for each in passages))
    if key in seen:
        return knows(question, passages)
    seen.add(key)
    raise TimeoutError("try again")

def without(question, passages):
    "Fails where the selected passage is gone."
    answer = knows(question, passages)
    if answer == "no idea":
        raise OSError("gone")
    return answer

not_a_function = 7
"""
AT = ("--form", "title", "--rule", "bm25_body")
Omit = Callable[..., Ended]


def pages_of(key: str) -> list[Row]:
    """Return the selected page of a question, which holds its answer, and four others of different lengths."""
    answer = f"It is answer {key} , of course ."
    return [page(f"{key}-u", answer), *(page(f"{key}-{number}", "x" * number * 10) for number in range(1, 5))]


def ids_of(key: str) -> list[str]:
    return [f"{key}-1", f"{key}-u", f"{key}-2", f"{key}-3", f"{key}-4"]


def freeze_rows(folder: Path, rows: list[Row], lists: dict[str, list[str] | None] | None = None) -> None:
    """Freeze rankings of the given rows; lists replace those of some questions."""
    pages = [each for key in dict.fromkeys(row["id"] for row in rows) for each in pages_of(key)]
    rankings = [ranking(row, (lists or {}).get(row["id"], ids_of(row["id"]))) for row in rows]
    freeze(folder / "dir", rows, {"title.bm25_body": rankings}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text())
    return found


def calls(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out" / "calls.jsonl").read_text().splitlines()]


def contrast(folder: Path, first: str, second: str, score: str = "exact") -> dict[str, Any]:
    found: dict[tuple[str, str, str], dict[str, Any]] = {
        (each["first"], each["second"], each["score"]): each for each in report(folder)["contrasts"]
    }
    return found[first, second, score]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "out").iterdir()}
