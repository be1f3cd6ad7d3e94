"""Frozen rankings counted by plain Python, which knows nothing of the product: ``python recount.py DIR``.

It reads the files of a folder as anybody would, and counts what tables 5 and 8 and the transitions hold.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

CUTOFFS = (1, 5, 20)


def read(file: Path) -> list[Any]:
    """Return what the lines of a file hold."""
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def recount(folder: Path) -> dict[str, dict[str, int]]:
    """Return by table, selector, form, rule and cutoff the counts of every outcome."""
    pages = {row["id"] for row in read(folder / "pages.jsonl")}
    rows = {(row["selector"], row["id"]): row for row in read(folder / "questions.jsonl")}
    lists: dict[tuple[str, str], dict[Any, list[str]]] = {}
    for file in sorted((folder / "rankings").iterdir()):
        for line in read(file):
            lists.setdefault((line["form"], line["rule"]), {})[line["selector"], line["id"]] = line["ids"]
    found: dict[str, Counter[str]] = {}
    for (form, rule), here in lists.items():
        for key, row in rows.items():
            chosen, gold = row["selected_id"], row["gold_ids"]
            if chosen not in pages:
                continue
            for k in CUTOFFS:
                ids = here[key][:k]
                name = f"{row['selector']} {form} {rule} {k}"
                found.setdefault(f"5 {name}", Counter())["found" if chosen in ids else "missing"] += 1
                if gold and chosen not in gold and all(page in pages for page in gold):
                    traced = any(page in ids for page in gold)
                    kind = [["neither", "trace_only"], ["selected_only", "both"]][chosen in ids][traced]
                    for table in ["8", "8-own"] if row.get("linked_from_table") is not False else ["8"]:
                        found.setdefault(f"{table} {name}", Counter())[kind] += 1
    for (form, first), (other, second) in permutations(lists, 2):
        for key, row in rows.items():
            if form == other and row["selected_id"] in pages:
                for k in CUTOFFS:
                    before, after = (row["selected_id"] in lists[form, rule][key][:k] for rule in (first, second))
                    kind = [["missed_by_both", "recovered"], ["lost", "kept"]][before][after]
                    name = f"transitions {row['selector']} {form} {first} {second} {k}"
                    found.setdefault(name, Counter())[kind] += 1
    return {name: dict(counts) for name, counts in found.items()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(recount(Path(sys.argv[1]))))
