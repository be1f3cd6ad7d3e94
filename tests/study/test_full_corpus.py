"""Recorded selections whose judged object is another one, ranked over the full corpus as anybody could."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.study.recount import recount
from tests.study.toy import freeze, rows_of

DEPTH = 5
LAYOUT = "CREATE VIRTUAL TABLE pages USING fts5(id UNINDEXED, words, tokenize='unicode61')"
SEARCH = "SELECT id FROM pages WHERE pages MATCH ? ORDER BY bm25(pages), id LIMIT ?"


@pytest.fixture
def frozen(shared_data: Path, tmp_path: Path) -> str:
    """Return a folder of the bodies' BM25 for the titles of the recorded selections."""
    full = shared_data / "hybridqa" / "full"
    titles: dict[str, str] = {}
    with sqlite3.connect(":memory:") as index, gzip.open(full / "passages.jsonl.gz") as lines:
        index.execute(LAYOUT)
        for page in map(json.loads, lines):
            titles[page["id"]] = page["title"]
            index.execute("INSERT INTO pages VALUES (?, ?)", (page["id"], page["text"]))
        rows, ranking = [], []
        for given in map(json.loads, (full / "selections_hybrider_ottqa_dev.jsonl").read_text().split("\n")[:-1]):
            row, line = rank(given, titles, index)
            rows.append(row)
            ranking.append(line)
    pages = {page for line in ranking for page in line["ids"] or ()}
    pages |= {page for row in rows for page in (row["selected_id"], *row["gold_ids"]) if page in titles}
    return freeze(tmp_path, rows, {("title", "bm25_body"): ranking}, depth=DEPTH, pages=pages)


def rank(given: Any, titles: dict[str, str], index: sqlite3.Connection) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a recorded selection as a planned row, and the line of its ranking."""
    selected, gold = given["selected_id"], given["gold_ids"]
    own = given["gold_table_id"] == given["retrieved_table_id"]
    row = {
        "id": given["id"],
        "selector": "hybrider",
        "selected_id": selected,
        "gold_ids": gold,
        "linked_from_table": own,
    }
    line = {"id": given["id"], "selector": "hybrider", "form": "title", "rule": "bm25_body"}
    if selected not in titles:
        return row, {**line, "ids": None, "reason": "unresolved_selection" if selected else "no_selection"}
    asked = dict.fromkeys(re.findall(r"\w+", titles[selected].lower()))
    words = " OR ".join(f'"{word}"' for word in asked)
    # Only where U and G differ does the table look into the list.
    ids = [page for (page,) in index.execute(SEARCH, (words, DEPTH))] if gold and selected not in gold else []
    return row, {**line, "query": titles[selected], "ids": ids}


def test_joint_outcomes_of_real_selections(frozen: str) -> None:
    """331 of 509 differ; 165 of them lie in another table and can be left out; a script counts the same."""
    [row] = rows_of(frozen, 8, at=[5])
    assert (row["n"], row["of"], row["own_table"]["n"]) == (331, 509, 331 - 165)
    assert row["at"]["5"] == {"both": 8, "selected_only": 226, "trace_only": 6, "neither": 91}
    counted = recount(Path(frozen))
    assert counted["8 hybrider title bm25_body 5"] == row["at"]["5"]
    assert counted["8-own hybrider title bm25_body 5"] == row["own_table"]["at"]["5"]
    [account] = rows_of(frozen, 4, at=[5])
    assert account == {
        "selector": "hybrider",
        "planned": 2210,
        "no_selection": 1083,
        "unresolved": 586,
        "same": 178,
        "different": 331,
        "no_trace": 32,
        "trace_unresolved": 0,
    }
