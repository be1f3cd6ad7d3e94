"""Handoffs that Hypothesis makes up: plausible ones for the laws, and any at all for robustness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.profile import Resolver
from tests.core.build import END, handoff

IDS = tuple("abcdefgh")
IDENTITY = Resolver({each: [each] for each in IDS})
KINDS = (
    "vector lexical fusion boost candidates rerank mmr expansion reorder sentence_selection packing rescue reader web"
).split()
LISTS = st.lists(st.sampled_from((*IDS, "")), max_size=9).map(tuple)
NAMES = st.sampled_from(("vector", "rerank", "one", "two", "packing", "reader"))
ROUNDS = st.sampled_from((None, None, 1, 2))
LABELS = st.lists(st.sampled_from(("S1", "S2", "S3", "")), max_size=6).map(tuple)


def aligned(values: st.SearchStrategy[Any], length: int) -> st.SearchStrategy[Any]:
    """Return no list, or mostly one of this length."""
    exact = st.lists(values, min_size=length, max_size=length).map(tuple)
    return st.none() | exact | st.lists(values, max_size=3).map(tuple)


@st.composite
def stages(draw: st.DrawFn, *, readable: bool = False, counts: bool = True) -> StageRecord:
    """Return a stage without a place in time; with ``counts`` its lists may be cut."""
    returned = draw(LISTS if readable else st.none() | LISTS)
    count = st.none() | st.integers(0, 20) if counts else st.none()
    size = len(returned or ())
    return StageRecord(
        kind=draw(st.sampled_from(KINDS)),
        name=draw(st.none() | NAMES),
        source=draw(st.booleans()),
        fed_by=draw(st.just(()) | st.lists(NAMES, max_size=2).map(tuple)),
        round=draw(ROUNDS),
        returned=returned,
        returned_count=draw(count),
        input=draw(st.none() | LISTS),
        input_count=draw(count),
        scores=draw(aligned(st.floats(), size)),
        scopes=draw(aligned(st.sampled_from(("", "t", "u")), size)),
        fallback=draw(st.booleans()),
        labels=draw(st.none() | LABELS | aligned(st.sampled_from(("S1", "S2", "S3")), size)),
        id_tokens=draw(aligned(st.integers(0, 12), size)),
        shares=draw(aligned(st.sampled_from((0.0, 0.5, 0.95, 1.0)), size)),
        basis=draw(st.sampled_from((None, None, None, "recorded", "prompt", "assumed", "unseen", "other"))),
        attaches=draw(st.sampled_from((None, "shown", "cited"))),
        tokens=draw(st.none() | st.integers(-1, 100)),
        token_budget=draw(st.none() | st.integers(-1, 1000)),
        citations=draw(st.none() | LABELS),
        span_id="",
        start_ns=0,
        end_ns=-1,
        failed=draw(st.booleans()),
    )


@st.composite
def handoffs(draw: st.DrawFn, *, readable: bool = False, counts: bool = True, parents: bool = True) -> HandoffRecord:
    """Return a handoff whose stages end in any order, some together, some nested and some late."""
    placed = []
    for place, each in enumerate(draw(st.lists(stages(readable=readable, counts=counts), max_size=7))):
        end = draw(st.integers(1, 5)) if draw(st.integers(0, 9)) else END + 1
        parent = draw(st.none() | st.integers(0, 7)) if parents else None
        placed.append(
            replace(
                each,
                span_id=str(place),
                start_ns=draw(st.integers(0, end)),
                end_ns=end,
                parent_id=None if parent is None else str(parent),
            )
        )
    return replace(
        handoff(
            *placed,
            mode=draw(st.sampled_from((None, None, "hard", "soft"))),
            rule=draw(st.sampled_from((None, "any", "all"))),
            cutoff=draw(st.none() | st.integers(1, 12)),
            expected=draw(st.just(()) | st.lists(NAMES, max_size=4, unique=True).map(tuple)),
            scope_id=draw(st.sampled_from((None, "t"))),
            grades=draw(st.lists(st.integers(-1, 3), max_size=4).map(tuple)),
            starved_ratio=draw(st.none() | st.floats(0, 2)),
            need=draw(st.sampled_from((None, "one", "every"))),
            min_tokens=draw(st.none() | st.integers(0, 20)),
            label_scope=draw(st.sampled_from((None, "object"))),
            failed=not draw(st.integers(0, 9)),
        ),
        selected=draw(st.just(("a",)) | st.none() | st.lists(st.sampled_from(IDS), max_size=3).map(tuple)),
        judged=draw(st.none() | st.lists(st.sampled_from((*IDS, "")), max_size=5).map(tuple)),
    )


@st.composite
def nested(draw: st.DrawFn) -> HandoffRecord:
    """Return a handoff of stages within stages, of few lists, so that many of them wrap others."""
    count = draw(st.integers(1, 9))
    placed = []
    for place in range(count):
        parent = draw(st.none() | st.integers(place + 1, count)) if place + 1 < count else None
        returned = draw(st.sampled_from((None, (), ("a",), ("a",), ("a", "b"))))
        placed.append(
            StageRecord(
                kind=draw(st.sampled_from("vector lexical fusion rerank rerank packing rescue reader web web".split())),
                name=draw(st.none() | NAMES),
                source=draw(st.booleans()),
                fed_by=draw(st.just(()) | st.just(()) | st.just(()) | st.lists(NAMES, max_size=2).map(tuple)),
                round=draw(ROUNDS),
                returned=returned,
                span_id=str(place),
                parent_id=None if parent is None else str(parent),
                start_ns=0,
                end_ns=draw(st.integers(0, 2)) + place,
                failed=not draw(st.integers(0, 9)),
            )
        )
    return handoff(*placed)
