"""The title check: does a rule return every page of the corpus when it is asked for its title?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rop_otel.core.ranking import HandoffRule, Lost, Page, Query, StudyRow
from rop_otel.study.ranking_file import write_whole

CUTOFFS = (1, 5, 20)
_BATCH = 256


def check_titles(
    pages: Sequence[Page],
    rules: Mapping[str, HandoffRule],
    *,
    depth: int,
    kept: Path,
    progress: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Look every page up by its own title.

    Args:
        pages: The corpus.
        rules: What looks it up, by name; none gives empty counts.
        depth: Most pages in a list; cutoffs beyond it are left out.
        kept: File for the counts so far, from which a check that was stopped goes on; removed at the end.
        progress: Called with the items done so far and in all.

    Returns:
        For each rule, how many pages it leaves out at each cutoff, and how many titles make an empty query, which count
        as left out.
    """
    cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= depth]
    none = {name: {"omitted": dict.fromkeys(map(str, cutoffs), 0), "empty": 0} for name in rules}
    done, checked = json.loads(kept.read_bytes()) if kept.exists() else (0, none)
    for first in range(done, len(pages) if rules else 0, _BATCH):
        batch = pages[first : first + _BATCH]
        queries = [_asked(page) for page in batch]
        for name, rule in rules.items():
            for page, found in zip(batch, rule.rank(queries, max(cutoffs)), strict=True):
                _count(checked[name], page.id, found, cutoffs)
        write_whole(kept, json.dumps([first + len(batch), checked]).encode())
        progress("checking titles", min(first + _BATCH, len(pages)), len(pages))
    kept.unlink(missing_ok=True)
    return {"of": len(pages), "rules": checked}


def _count(counts: dict[str, Any], page_id: str, found: Any, cutoffs: Sequence[int]) -> None:
    counts["empty"] += isinstance(found, Lost)
    ids = [] if isinstance(found, Lost) else [found_id for found_id, _ in found]
    for cutoff in cutoffs:
        counts["omitted"][str(cutoff)] += page_id not in ids[:cutoff]


def _asked(page: Page) -> Query:
    row = StudyRow(id=page.id, selector="", question=None, selected_id=page.id, selected_title=page.title)
    return Query(page.title, row)
