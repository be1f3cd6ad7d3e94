"""Frozen rankings counted by plain Python, which knows nothing of the product: ``python recount.py DIR``.

It reads the files of a folder as anybody would, and counts what the tables and the transitions hold.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

CUTOFFS = (1, 5, 20)
READER = 5
UPSTREAM = ("no_selection", "unresolved_selection")

Ranked = dict[tuple[str, str], Any]
"""The line of each planned row, by selector and question."""


def read(file: Path) -> list[Any]:
    """Return what the lines of a file hold."""
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def recount(folder: Path) -> dict[str, dict[str, int]]:
    """Return by table, selector, form, rule and cutoff the counts of every outcome that occurs."""
    pages = {row["id"] for row in read(folder / "pages.jsonl")}
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = {(row["selector"], row["id"]): row for row in read(folder / "questions.jsonl")}
    rankings: dict[tuple[str, str], Ranked] = {}
    for form, rule in product(manifest["forms"], manifest["rules"]):
        file = folder / "rankings" / f"{form}.{rule.replace(':', '+')}.jsonl"
        if file.exists():
            rankings[form, rule] = {(line["selector"], line["id"]): line for line in read(file)}
    several = len({selector for selector, _ in rows}) > 1
    found: dict[str, Counter[str]] = {}
    for key, row in rows.items():
        standing = standing_of(row, pages)
        for selector in (key[0], "all") if several else (key[0],):
            found.setdefault(f"4 {selector}", Counter())[standing] += 1
            for (form, rule), here in rankings.items():
                for table, cutoff, outcome in outcomes(row, here[key], standing, pages, manifest["depth"]):
                    found.setdefault(f"{table} {selector} {form} {rule} {cutoff}", Counter())[outcome] += 1
            for (form, first), (other, second) in combinations(rankings, 2):
                if form == other and standing not in ("no_selection", "unresolved"):
                    for cutoff in CUTOFFS:
                        name = f"transitions {selector} {form} {first} {second} {cutoff}"
                        moved = move(row, rankings[form, first][key], rankings[form, second][key], cutoff)
                        found.setdefault(name, Counter())[moved] += 1
        for form in {form for form, _ in rankings}:
            ranks = {rule: rank_of(row, here[key]) for (one, rule), here in rankings.items() if one == form}
            if selected_in(row, pages) and any(rank == 0 or (rank or 0) > READER for rank in ranks.values()):
                found[f"7 {form} {' '.join(key)}"] = Counter({rule: r for rule, r in ranks.items() if r is not None})
    return {name: dict(counts) for name, counts in found.items()}


def selected_in(row: Any, pages: set[str]) -> bool:
    """Return whether the selected object is a page."""
    return row["selected_id"] in pages


def standing_of(row: Any, pages: set[str]) -> str:
    """Return how a selection stands."""
    if not row["selected_id"]:
        return "no_selection"
    if not selected_in(row, pages):
        return "unresolved"
    if not row["gold_ids"]:
        return "no_trace"
    if not pages.issuperset(row["gold_ids"]):
        return "trace_unresolved"
    return "same" if row["selected_id"] in row["gold_ids"] else "different"


def rank_of(row: Any, line: Any) -> int | None:
    """Return the selected object's rank; 0: it is not in the list; None: there is no list."""
    ids = line["ids"]
    return None if ids is None else ids.index(row["selected_id"]) + 1 if row["selected_id"] in ids else 0


def outcomes(row: Any, line: Any, standing: str, pages: set[str], depth: int) -> Iterator[tuple[str, int, str]]:
    """Yield table, cutoff and outcome of a row in one ranking."""
    ids, rank = line["ids"], rank_of(row, line)
    for cutoff in CUTOFFS:
        shown = (ids or [])[:cutoff]
        traced = any(page in shown for page in row["gold_ids"])
        if standing not in ("no_selection", "unresolved"):
            chosen = row["selected_id"] in shown
            yield "5", cutoff, "unverifiable" if ids is None else "found" if chosen else "missing"
            if rank is None or not 0 < rank <= cutoff:
                absent = "nonmatch" if len(ids or ()) < depth else "unresolved"
                yield "19", cutoff, "unverifiable" if rank is None else "near" if rank else absent
            if standing == "different":
                kind = [["neither", "trace_only"], ["selected_only", "both"]][chosen][traced]
                yield "8", cutoff, "unverifiable" if ids is None else kind
                if row.get("linked_from_table") is not False and ids is not None:
                    yield "8-own", cutoff, kind
            if standing == "same" and ids is not None:
                yield ("22", cutoff, "found") if chosen else ("same", cutoff, "missing")
        if row["gold_ids"] and pages.issuperset(row["gold_ids"]):
            lost = ids is None and line.get("reason") not in UPSTREAM
            yield "20", cutoff, "unverifiable" if lost else "found" if traced else "missing"


def move(row: Any, first: Any, second: Any, cutoff: int) -> str:
    """Return what becomes of a row from one ranking to another."""
    if first["ids"] is None or second["ids"] is None:
        return "unverifiable"
    before, after = (row["selected_id"] in line["ids"][:cutoff] for line in (first, second))
    return [["missed_by_both", "recovered"], ["lost", "kept"]][before][after]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(recount(Path(sys.argv[1]))))
