"""Time and memory of each handoff rule over the standard library's documentation, each against body BM25."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from interleave import microseconds

from rop_otel.core.ranking import Page, Query, StudyRow
from rop_otel.reference.corpus import read_standard_library
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.models import default_encoder
from rop_otel.reference.rules import RULES, Rules

BATCH = 16
BATCHES = 8
"""Each is asked once: rules remember the last batch, and encoders the last queries."""

ROUNDS = 3
DEPTH = 20
BASE = "bm25_body"
SAMPLE = 200
"""Pages encoded to see how many that are in a second."""


def main() -> None:
    """Measure each rule in a process of its own, and print."""
    if len(sys.argv) > 1:
        print(json.dumps(_measured(sys.argv[1])))
        return
    pages = _pages()
    size = sum(len(page.title) + len(page.text) for page in pages) / 1e6
    print(f"Handoff rules over {len(pages):,} pages, {size:.1f} million characters, {BATCH} titles at a time")
    print(
        f"  encoding once       {_encoded_a_second(pages):>10.1f} pages a CPU second; from then on vectors are cached"
    )
    Rules(pages).find("dense").rank(_queries(pages)[:1], DEPTH)
    ratios = {}
    for name in (*RULES, f"reserved:{BASE}"):
        found = json.loads(subprocess.run([sys.executable, __file__, name], check=True, capture_output=True).stdout)
        ratios[f"{name}_over_{BASE}"] = found["query"] / found["base"]
        print(
            f"  {name:<20}{found['query'] / 1000:>10.3f} ms CPU a query {found['query'] / found['base']:>8.2f} × {BASE}"
            f" {found['prepared']:>8.2f} s to prepare {found['grown']:>8.1f} MiB"
        )
    print(json.dumps({name: round(value, 4) for name, value in ratios.items()}))


def _measured(name: str) -> dict[str, float]:
    pages = _pages()
    queries = _queries(pages)
    before = _resident()
    started = time.process_time()
    rule = _asked(pages, name, queries)
    prepared = time.process_time() - started
    grown = _resident() - before
    taken = microseconds({"base": _asked(pages, BASE, queries), "rule": rule}, calls=1, rounds=ROUNDS)
    return {"query": taken["rule"] / BATCH, "base": taken["base"] / BATCH, "prepared": prepared, "grown": grown}


def _asked(pages: list[Page], name: str, queries: list[Query]) -> Callable[[], object]:
    """Return what ranks the next batch, once everything that the rule needs is made."""
    rule = Rules(pages).find(name)
    batches = cycle(queries[first : first + BATCH] for first in range(0, len(queries), BATCH))

    def rank() -> object:
        return rule.rank(next(batches), DEPTH)

    rank()
    return rank


def _pages() -> list[Page]:
    items = read_standard_library().items
    return [Page(id=one.id, title=one.title, text="\n\n".join(chunk.text for chunk in one.chunks)) for one in items]


def _queries(pages: list[Page]) -> list[Query]:
    asked = pages[:: len(pages) // (BATCHES * BATCH)][: BATCHES * BATCH]
    return [
        Query(
            page.title,
            StudyRow(id=page.id, selector="s", question=None, selected_id=page.id, selected_title=page.title),
        )
        for page in asked
    ]


def _encoded_a_second(pages: list[Page]) -> float:
    encoder = Encoder(default_encoder())
    texts = [f"{page.title}. {page.text}" for page in pages[:SAMPLE]]
    started = time.process_time()
    list(encoder.encode_passages(encoder.tokenize_passages(texts)))
    return len(texts) / (time.process_time() - started)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
