"""A small corpus with questions about it, and what reads the folder that they are ranked into."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXTS = {
    "heron": "Herons are long-legged freshwater birds. They hunt fish by standing still.",
    "otter": "Otters are mammals of rivers and coasts. They keep a favourite stone in a pouch.",
    "beaver": "Beavers fell trees and build dams of branches and mud.",
    "lynx": "The lynx is a wild cat with tufted ears that hunts hares in snow.",
    "stork": "Storks nest on roofs and chimneys and clatter with their bills.",
}
PAGES = [{"id": f"/{name}", "title": name.title(), "text": text} for name, text in TEXTS.items()]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Which animal builds dams?", "gold_ids": ["/gone", "/beaver"], "answer": "beaver"},
    {"id": "q1", "selector": "other", "question": "Which animal builds dams?", "selected_id": "/otter"},
    {"id": "q2", "question": "Which cat hunts hares?", "selected_id": "/lynx", "rewrite": "cat hares", "notes": [1]},
    {"id": "q3", "question": "Who keeps a stone?", "selected_id": None, "gold_ids": ["/otter"]},
    {"id": "q4", "question": "?!", "selected_id": "/gone"},
    {"id": "q5", "question": None, "selected_id": "/stork", "selected_cell": "a stork", "linked_from_table": True},
]
RULES = ["key", "title", "bm25_title", "bm25_title_body", "bm25_body", "reserved:bm25_body"]
FORMS = ["question", "title", "cell", "rewrite"]

Call = Callable[..., tuple[int, str, str]]


def write(file: Path, rows: list[Any]) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def lexical(*more: str) -> tuple[str, ...]:
    return ("--rule", *RULES, *more, "--form", *FORMS)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def lines(folder: str, form: str, rule: str) -> dict[tuple[str, str], dict[str, Any]]:
    text = Path(folder, "rankings", f"{form}.{rule}.jsonl").read_text()
    return {(row["id"], row["selector"]): row for row in map(json.loads, text.splitlines())}


def reasons(folder: str, form: str, rule: str) -> dict[str, str]:
    rows = lines(folder, form, rule).values()
    return {f"{row['id']}/{row['selector']}": row["reason"] for row in rows if row["ids"] is None}
