"""Lists over real data against lists and counts that were made without this code."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rop_otel.core.ranking import Lost, Page, Query, StudyRow
from rop_otel.reference.rules.bm25_rule import Bm25Rule


def pages_in(*files: Path) -> list[Page]:
    return [Page(**json.loads(line)) for file in files for line in gzip.open(file)]


def frozen_in(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of lists that were frozen over the full corpus, whose targets are pages."""
    with gzip.open(folder / "fts5_full_rankings.jsonl.gz") as lines:
        yield from (row for row in map(json.loads, lines) if row["resolves"])


def ids(rule: Bm25Rule, title: str, depth: int) -> list[str]:
    row = StudyRow(id="q", selector="s", question=None)
    (found,) = rule.rank([Query(title, row)], depth)
    return [] if isinstance(found, Lost) else [page for page, _ in found]


def missing(lists: Sequence[tuple[str, list[str]]]) -> tuple[int, ...]:
    return tuple(sum(target not in found[:cutoff] for target, found in lists) for cutoff in (1, 5, 20))


@pytest.mark.parametrize(
    ("name", "alike", "counts"), [("dev_work", 302, (72, 28, 14)), ("selector_test", 262, (80, 32, 13))]
)
def test_titles_over_the_full_corpus(shared_data: Path, name: str, alike: int, counts: tuple[int, ...]) -> None:
    """Title and body ranked by a title give the frozen lists, to the last of 50 IDs."""
    hybridqa = shared_data / "hybridqa"
    pages = pages_in(hybridqa / "full" / "passages.jsonl.gz")
    titles = {page.id: page.title for page in pages}
    rule = Bm25Rule("bm25_title_body", pages)
    rows = [*frozen_in(hybridqa / name)]
    lists = [ids(rule, titles[row["target"]], 50) for row in rows]
    same = [found == row["rankings"]["title->title+body"] for row, found in zip(rows, lists, strict=True)]
    assert sum(same) == alike
    assert missing([(row["target"], found) for row, found in zip(rows, lists, strict=True)]) == counts


@pytest.mark.parametrize(
    ("name", "body", "both"),
    [("dev_work", (119, 49, 23), (71, 28, 13)), ("selector_test", (118, 59, 26), (81, 30, 13))],
)
def test_titles_over_a_pool(shared_data: Path, name: str, body: tuple[int, ...], both: tuple[int, ...]) -> None:
    """A table of titles finds every page within five; a body table loses what an independent count lost."""
    folder = shared_data / "hybridqa" / name
    pages = pages_in(folder / "passages.jsonl.gz", folder / "hard_passages.jsonl.gz")
    titles = {page.id: page.title for page in pages}
    targets = [row["target"] for row in frozen_in(folder)]
    counts = {}
    for projection in ("bm25_title", "bm25_body", "bm25_title_body"):
        rule = Bm25Rule(projection, pages)
        counts[projection] = missing([(target, ids(rule, titles[target], 20)) for target in targets])
    assert counts["bm25_title"][1:] == (0, 0)
    assert (counts["bm25_body"], counts["bm25_title_body"]) == (body, both)
