"""Clocks that differ between services, put right from the bounds that a parent gives its children."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rop_otel.spans import Span

_Service = tuple[str, str | None]
"""A service within one trace: the trace's ID, and the service's name."""


def with_one_clock(spans: Sequence[Span]) -> list[Span]:
    """Return spans with the times of each trace on one clock, that of the service at its top.

    A span lies within its parent, where the start and end of both are known. A service is shifted by the least that
    makes this so for all its spans below those of other services, after these have been shifted. Where no shift does,
    the first of them is put at the start of its parent. Spans of one service keep their distances.

    Args:
        spans: Of any number of traces.
    """
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    entries: defaultdict[_Service, list[tuple[Span, Span]]] = defaultdict(list)
    tops: dict[_Service, None] = {}
    for span in spans:
        parent = by_id.get((span.trace_id, span.parent_id or ""))
        if parent is None:
            tops[_service_of(span)] = None
        elif parent.service != span.service and _is_timed(span) and _is_timed(parent):
            entries[_service_of(span)].append((parent, span))
    if not entries:
        return list(spans)
    shifts = _shifts(entries, tops)
    return [_shifted(span, shifts.get(_service_of(span), 0)) for span in spans]


def _service_of(span: Span) -> _Service:
    return span.trace_id, span.service


def _is_timed(span: Span) -> bool:
    return 0 < span.start_ns <= span.end_ns


def _shifts(entries: dict[_Service, list[tuple[Span, Span]]], tops: Iterable[_Service]) -> dict[_Service, int]:
    """Return the shift of each service that a top calls, directly or through others; nearest to the top first."""
    called: defaultdict[_Service, dict[_Service, None]] = defaultdict(dict)
    for service, pairs in entries.items():
        for parent, _ in pairs:
            called[_service_of(parent)][service] = None
    shifts = dict.fromkeys(tops, 0)
    ahead = deque(shifts)
    while ahead:
        for service in called.get(ahead.popleft(), ()):
            if service not in shifts:
                shifts[service] = _shift(
                    (child, parent, shifts[_service_of(parent)])
                    for parent, child in entries[service]
                    if _service_of(parent) in shifts
                )
                ahead.append(service)
    return shifts


def _shift(pairs: Iterable[tuple[Span, Span, int]]) -> int:
    """Return the smallest shift that puts each child within its parent, which is shifted already."""
    bounds = [(parent.start_ns + by - child.start_ns, parent.end_ns + by - child.end_ns) for child, parent, by in pairs]
    least, most = max(low for low, _ in bounds), min(high for _, high in bounds)
    return bounds[0][0] if least > most else min(max(0, least), most)


def _shifted(span: Span, by: int) -> Span:
    return replace(span, start_ns=span.start_ns + by, end_ns=span.end_ns + by) if by else span
