"""Handoffs with everything that a page has to draw, and the files that show them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rop_otel.core.handoff import HandoffRecord, StageRecord, assess
from rop_otel.page import AssessedSet, Carried, write_page
from rop_otel.spans import Span
from tests.core.build import handoff, stage

START: Final = 1_780_000_000_000_000_000
MILLISECOND: Final = 1_000_000
LABELS: Final = ("S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8")


def ordinary(number: int, *, fault: bool = False, size: int = 50) -> HandoffRecord:
    """Return a handoff of a hybrid pipeline; the fault cuts the list between reranking and MMR."""
    chance = random.Random(number)
    names = [f"library.module{place % 9}.function{place}#{place % 3}" for place in range(size * 3 // 2)]
    chosen, judged = names[number % 14], [names[number % 14], names[(number * 5) % size]]
    vector, lexical = _near(names[:size], chance, 5), _near(names[size // 2 :], chance, 9)
    fusion = _near(dict.fromkeys([*vector[:12], *lexical, *vector]), chance, 3)
    ranked = _near(fusion[:30], chance, 4)[:12]
    handed = ranked[:4] if fault else ranked
    kept = _near(handed, chance, 1)[:6]
    packed = [*kept[::2], *kept[1::2][::-1]]
    return timed(
        stage("vector", returned(vector), scores=falling(vector), query_form="question"),
        stage("lexical", returned(lexical), scores=falling(lexical)),
        stage("fusion", returned(fusion), scores=falling(fusion)),
        stage("candidates", returned(fusion[:30])),
        stage("rerank", returned(ranked), scores=falling(ranked), implementation="late interaction"),
        stage("mmr", returned(kept), given=returned(handed)),
        stage("packing", returned(packed), labels=returned(LABELS[: len(packed)]), tokens=900, token_budget=1200,
              id_tokens=tuple(100 + place for place in range(len(packed)))),
        stage("reader", returned(packed), labels=returned(LABELS[: len(packed)]), citations=("S1", "S2", "S1")),
        number=number, selected=chosen, judged=returned(dict.fromkeys(judged)),
    )  # fmt: skip


def returned(ids: Iterable[str]) -> str:
    """Return IDs as :func:`tests.core.build.stage` takes them."""
    return " ".join(ids)


def falling(ids: Sequence[str]) -> tuple[float, ...]:
    """Return a score for each ID, the first the highest."""
    return tuple(round(1 - place / (len(ids) + 5), 4) for place in range(len(ids)))


def _near(ids: Iterable[str], chance: random.Random, far: float) -> list[str]:
    """Return IDs in about the same order."""
    return [name for _, name in sorted((place + chance.gauss(0, far), name) for place, name in enumerate(ids))]


def timed(*stages: StageRecord, number: int, selected: str | None, **facts: Any) -> HandoffRecord:
    """Return a handoff of stages that run one after the other, ten milliseconds each, unless they say when."""
    begin = START + number * 1000 * MILLISECOND
    placed = [
        replace(
            each,
            start_ns=begin + (10 * place + 1) * MILLISECOND,
            end_ns=begin + (10 * place + 9) * MILLISECOND if each.end_ns == -1 else begin + (each.end_ns or 0),
        )
        for place, each in enumerate(stages)
    ]
    end = begin + (10 * len(stages) + 5) * MILLISECOND
    given: dict[str, Any] = {
        "record_id": f"q{number:03d}",
        "handoff_id": f"{number:032x}-{number:016x}",
        "trace_id": f"{number:032x}",
    }
    return handoff(*placed, selected=selected, start_ns=begin, end_ns=end, **{**given, **facts})


def _special() -> dict[str, HandoffRecord]:
    """Return handoffs of which each has something that others do not have."""
    many = [f"doc{place}" for place in range(1000)]
    late = 10_000 * MILLISECOND
    return {
        "nested": timed(
            stage("vector", "d1 d2 d3 a", parent_id="0000000000000003"),
            stage("lexical", "d4 a d1", parent_id="0000000000000003"),
            stage("fusion", "d1 a d4 d2", name="hybrid"),
            stage("rerank", "a d1"), stage("packing", "a d1", labels="S1 S2"), number=1, selected="a",
        ),
        "rounds": timed(
            stage("vector", "d1 d2 a", round=1), stage("rerank", "d1 a", round=1),
            stage("vector", "a d7 d8", round=2), stage("rerank", "d8 d7", round=2),
            stage("packing", "d1 d8"), number=2, selected="a",
        ),
        "cut": timed(stage("vector", returned(many[:100]), count=250), stage("rerank", "doc5 doc2"),
                     stage("packing", "doc5"), number=3, selected="doc180"),
        "failed": timed(stage("vector", "a d1 d2"), stage("rerank", None, failed=True),
                        stage("packing", "a d1"), number=4, selected="a"),
        "unreadable": timed(stage("vector", "d1 d2 a"), stage("candidates", None), stage("packing", "d1 d2"),
                            number=5, selected="a"),
        "late": timed(stage("vector", "a d1"), stage("packing", "a d1"),
                      stage("rescue", "d9", end_ns=late), number=6, selected="a"),
        "misattributed": timed(stage("vector", "a b c"), stage("packing", "a b c", labels="S1 S2 S3"),
                               stage("reader", "b a c", citations=("S1", "S2", "S9")), number=7, selected="a"),
        "hollow": timed(stage("vector", "a b c d"),
                        stage("packing", "a b c d", shares=(1.0, 0.4, 1.0, 0.0), basis="prompt"),
                        number=8, selected="b", judged="b"),
        "cutoff": timed(stage("vector", "b c d a e"), stage("packing", "b c d a e"), number=9, selected="a", cutoff=3),
        "scope": timed(stage("vector", "a b c", scopes=("python", "ruby", "python")), stage("packing", "a b"),
                       number=10, selected="a", scope_id="python"),
        "thousand": timed(stage("vector", returned(many)), stage("rerank", returned(many[::-1][:400])),
                          stage("packing", returned(many[::-1][:8])), number=11, selected="doc3", judged="doc999 doc4"),
        "unselected": timed(stage("vector", "a b"), stage("packing", "a"), number=12, selected=""),
        "open": timed(stage("vector", "a b"), stage("packing", "a"), number=13, selected=None),
        "unseen": timed(stage("vector", "a b"), stage("packing", "a", basis="unseen"), number=14, selected="a"),
        "retrieved_never": timed(stage("vector", "b c"), stage("packing", "b"), number=15, selected="zebra"),
        "unnamed": timed(stage("vector", "a - b"), stage("packing", "a -"), number=16, selected="a", record_id=None),
        "rule": timed(stage("vector", "a b"), stage("packing", "a"), number=17, selected="a", rule="most"),
    }  # fmt: skip


SPECIAL: Final = _special()
OTHER_NAME: Final = "support-qa"
SERVICES: Final = ("docs-rag", "gateway")


def usual(*, fault: bool = False) -> tuple[HandoffRecord, ...]:
    """Return many ordinary handoffs and all special ones, which are of another interface."""
    special = [replace(each, name=OTHER_NAME, record_id=each.record_id and name) for name, each in SPECIAL.items()]
    return (*(ordinary(100 + number, fault=fault) for number in range(130)), *special)


def shown(name: str, records: Sequence[HandoffRecord]) -> AssessedSet:
    """Return a set as the page takes it."""
    carried = Carried()
    for record in records:
        service = SERVICES[record.name == OTHER_NAME]
        carried.add(Span(trace_id=record.trace_id, span_id=record.span_id, service=service))
    return AssessedSet(name=name, records=tuple(records), assessments=tuple(map(assess, records)), carried=carried)


def written(path: Path, *sets: AssessedSet, title: str = "a test", trace_url: str | None = None) -> str:
    """Write the page of some sets and return its address."""
    with path.open("wb") as stream:
        write_page(sets, stream, title=title, trace_url=trace_url)
    return path.as_uri()
