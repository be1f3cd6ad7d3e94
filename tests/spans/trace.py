"""Neutral spans, made by hand."""

from __future__ import annotations

from typing import Any

from rop_otel import semconv
from rop_otel.spans import Span

TRACE = "ab" * 16


def span(number: int, *, parent: int | None = None, trace: str = TRACE, **fields: Any) -> Span:
    """Return a span whose ID is a number; it starts and ends at a time of that number unless told otherwise."""
    return Span(
        trace_id=trace,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        **{"name": "work", "start_ns": number, "end_ns": 1_000_000, **fields},
    )


def handoff(number: int, *selected: str, parent: int | None = None, trace: str = TRACE, **fields: Any) -> Span:
    """Return a handoff span; ``given`` holds more attributes."""
    given = fields.pop("given", {})
    attributes = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: list(selected), **given}
    return span(number, parent=parent, trace=trace, **{"attributes": attributes, **fields})


def stage(number: int, kind: str, *ids: str, parent: int | None = None, trace: str = TRACE, **fields: Any) -> Span:
    """Return a stage span that ends just after it starts; ``given`` holds more attributes."""
    given = fields.pop("given", {})
    attributes = {semconv.STAGE: kind, semconv.RETURNED_IDS: list(ids), **given}
    return span(number, parent=parent, trace=trace, **{"attributes": attributes, "end_ns": number + 1, **fields})


def pipeline(first: int = 1, *, trace: str = TRACE, parent: int | None = None) -> list[Span]:
    """Return a handoff of four stages, one of them below a span of someone else's."""
    return [
        handoff(first, "d1", trace=trace, parent=parent, end_ns=first + 90),
        span(first + 1, parent=first, trace=trace),
        stage(first + 2, "vector", "d1", "d2", "d3", parent=first + 1, trace=trace),
        stage(first + 4, "lexical", "d3", "d4", parent=first + 1, trace=trace),
        stage(first + 6, "fusion", "d3", "d1", "d2", parent=first, trace=trace),
        stage(first + 8, "packing", "d3", "d2", parent=first, trace=trace),
    ]
