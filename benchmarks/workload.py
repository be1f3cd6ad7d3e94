"""One handoff of nine stages and a hundred documents each: what the benchmarks instrument in several ways."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

KINDS = ("vector", "lexical", "fusion", "candidates", "rerank", "mmr", "expansion", "reorder", "packing")
DOCUMENTS = 100
SELECTED = "doc-0007"
JUDGED = ("doc-0007", "doc-0017", "doc-0050")
CUTOFF = 10


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as a retriever returns it."""

    id: str
    score: float


class Step(NamedTuple):
    """What one stage is handed and returns; a source is handed nothing."""

    kind: str
    handed: list[Hit] | None
    returned: list[Hit]


def steps() -> list[Step]:
    """Return the nine stages; every run sees the same lists, in which the selected object survives."""
    draw = random.Random(20)
    names = [f"doc-{number:04}" for number in range(140)]
    arms = [_ranked(draw.sample(names[:DOCUMENTS], DOCUMENTS)), _ranked(draw.sample(names[40:], DOCUMENTS))]
    run = [Step("vector", None, arms[0]), Step("lexical", None, arms[1])]
    handed = arms[0] + arms[1]
    for kind in KINDS[2:]:
        order = draw.sample(names[:DOCUMENTS], DOCUMENTS)
        order.remove(SELECTED)
        order.insert(draw.randrange(CUTOFF), SELECTED)
        returned = _ranked(order)
        run.append(Step(kind, handed, returned))
        handed = returned
    return run


def _ranked(names: Sequence[str]) -> list[Hit]:
    return [Hit(name, 1.0 / rank) for rank, name in enumerate(names, 1)]
