"""Handoffs with very many stages within each other, to be judged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tests.safety.growth import Call, Case
from tests.safety.many_facts import END, ids, judged, record, stage


def _deep(count: int, *, each: Callable[[int], dict[str, Any]], **facts: Any) -> Call:
    """Return stages of ours each within the next, the first the innermost, and two sources before them all."""
    stages = [
        stage("vector", ("a",), span_id="v", start_ns=0, end_ns=1),
        stage("lexical", ("b",), span_id="l", end_ns=2),
    ]
    for place in range(count):
        at = {"span_id": str(place), "parent_id": str(place + 1), "start_ns": 3, "end_ns": 4 + place}
        stages.append({**stage("web", ("a",)), **at, **each(place)})
    return judged(record([*stages, stage("packing", ("x",), start_ns=END - 1, end_ns=END)], **facts))


def _outliving(count: int) -> Call:
    """Return stages within each other that end ever earlier, and as many within the innermost that outlive them all."""
    around = [
        stage("web", (f"d{place}",), span_id=str(place), parent_id=str(place - 1), start_ns=0, end_ns=9 * count - place)
        for place in range(count)
    ]
    inner = [
        stage("mmr", ("a",), span_id=f"i{place}", parent_id=str(count - 1), start_ns=0, end_ns=10 * count + place)
        for place in range(count)
    ]
    return judged(record([*around, *inner]))


def _rounds_within(count: int) -> Call:
    """Return wrappers within each other, each with a round of its own in it, and what comes after them."""
    stages = [stage("web", ("a",), span_id="0", parent_id="1", start_ns=0, end_ns=1)]
    for place in range(1, count):
        at = {"parent_id": str(place + 1), "start_ns": 0}
        stages.append(stage("mmr", ("a",), round=place, span_id=f"m{place}", end_ns=3 * place, **at))
        stages.append(stage("web", ("a",), span_id=str(place), end_ns=3 * place + 1, **at))
    return judged(record([*stages, stage("packing", ("x",), start_ns=END - 1, end_ns=END)]))


def _looked_up(count: int) -> Call:
    """Return expansions, each with a lookup of all that it adds within it, and a packing after it that drops some."""
    stages = [stage("vector", ("d", "e"), span_id="v", start_ns=0, end_ns=1)]
    for place in range(1, count):
        at = {"start_ns": 10 * place, "end_ns": 10 * place + 5}
        stages.append(stage("web", ("d", "e", "n"), source=True, parent_id=f"e{place}", span_id=f"w{place}", **at))
        at["end_ns"] += 1
        stages.append(stage("expansion", ("d", "e", "n"), input=("d", "e"), span_id=f"e{place}", **at))
        at["end_ns"] += 1
        stages.append(stage("packing", ("n",), span_id=f"p{place}", fed_by=("expansion",), **at))
    return judged(record(stages))


def _sources(count: int, *, nested: bool) -> Call:
    """Return many named sources, each within the one before it if so, that all return one ID and one of their own."""
    times = [{"start_ns": place, "end_ns": 10 * count - place} for place in range(count)]
    sources = [
        stage("vector", ("a", f"d{place}"), name=f"n{place}", **(times[place] if nested else {}))
        for place in range(count)
    ]
    if nested:
        sources = [{**each, "span_id": f"s{place}", "parent_id": f"s{place - 1}"} for place, each in enumerate(sources)]
    at = {"start_ns": 20 * count, "end_ns": 20 * count + 1} if nested else {}
    return judged(record([*sources, stage("packing", ("a", *ids(count)), **at)]))


CASES: Final = [
    Case("sources with what was shown", 500, partial(_sources, nested=False)),
    Case("sources within sources, each with a name", 250, partial(_sources, nested=True)),
    Case("stages within each other, of one list", 400, partial(_deep, each=lambda place: {})),
    Case(
        "stages within each other, each fed from around",
        400,
        partial(_deep, each=lambda place: {"kind": "rerank", "returned": (f"d{place}",), "input": ("a",)}),
    ),
    Case(
        "stages within each other, each of a round",
        400,
        partial(_deep, each=lambda place: {"returned": (f"d{place}",), "round": 1 + place % 7, "kind": "mmr"}),
    ),
    Case(
        "sources within each other, of one list",
        400,
        partial(_deep, each=lambda place: {"source": True}),
    ),
    Case(
        "packings within each other",
        400,
        partial(_deep, each=lambda place: {"kind": "packing", "returned": (f"d{place}",)}, cutoff=3),
    ),
    Case(
        "stages within each other, each fed by the first",
        400,
        partial(
            _deep,
            each=lambda place: {"fed_by": ("lexical",), "returned": (f"d{place}",), "input": ("d0",), "kind": "mmr"},
        ),
    ),
    Case("stages that outlive many", 400, _outliving),
    Case("wrappers with rounds", 300, _rounds_within),
    Case("expansions that look documents up", 200, _looked_up),
]
"""One for each way in which stages lie within each other."""
