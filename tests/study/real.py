"""Folders of frozen rankings made of the recorded data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.study.toy import freeze

NAMES = {
    ("title", "bm25_title_body"): "title->title+body",
    ("title", "bm25_body"): "title->body",
    ("question", "bm25_title_body"): "question->title+body",
}
DEPTH = 20


def frozen_lists(folder: Path) -> dict[str, dict[str, Any]]:
    """Return by question what was frozen over the full corpus."""
    with gzip.open(folder / "fts5_full_rankings.jsonl.gz") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def questions(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of two data sets, each as a selector of its own: the judged page, and a real selector."""
    with open(data / "hybridqa" / "dev_work" / "questions.jsonl") as lines:
        for row in map(json.loads, lines):
            yield {
                "id": row["id"],
                "selector": "judged",
                "selected_id": row["gold_ids"][0],
                "gold_ids": row["gold_ids"],
            }
    with open(data / "hybridqa" / "selector_test" / "selections.jsonl") as lines:
        for row in map(json.loads, lines):
            yield {"id": row["id"], "selector": "hybrider", "selected_id": row["selected_id"], "gold_ids": []}


def freeze_real(data: Path, folder: Path) -> str:
    """Write the folder; return its name."""
    lists = {
        key: row
        for name in ("dev_work", "selector_test")
        for key, row in frozen_lists(data / "hybridqa" / name).items()
    }
    rows = [*questions(data)]
    for row in rows:
        row["resolves"] = bool(lists.get(row["id"], {}).get("resolves"))
    rankings = {}
    for (form, rule), name in NAMES.items():
        lines = []
        for row in rows:
            reason = "no_selection" if row["selected_id"] is None else "unresolved_selection"
            line = {"id": row["id"], "selector": row["selector"], "form": form, "rule": rule}
            ids = lists[row["id"]]["rankings"][name][:DEPTH] if row["resolves"] else None
            lines.append({**line, "query": None, "ids": ids} | ({} if row["resolves"] else {"reason": reason}))
        rankings[form, rule] = lines
    pages = {page for lines in rankings.values() for line in lines for page in line["ids"] or ()}
    pages |= {row["selected_id"] for row in rows if row["resolves"]}
    return freeze(folder, rows, rankings, depth=DEPTH, pages=pages)
