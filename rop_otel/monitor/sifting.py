"""Which spans of requests are new, which came before, and which there is no room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rop_otel.core.handoff.attributes import named_handoff_id
from rop_otel.monitor.open_traces import OpenTraces, by_trace, handoffs_named
from rop_otel.monitor.refusals import FULL, gaps_of
from rop_otel.monitor.store import Store
from rop_otel.monitor.stored import short
from rop_otel.spans import Span
from rop_otel.spans.refused import Refused


@dataclass(slots=True)
class Sifted:
    """One request.

    Args:
        fresh: Its spans that are to be kept, by trace, and those that say what is missing.
        refused: The spans that are not taken in.
    """

    fresh: list[list[Span]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """What is known of one trace while requests are sifted.

    Args:
        seen: The first spans with each ID, here and in the store.
        held: How many spans there are.
        asked: The handoffs that were looked for.
    """

    seen: list[dict[tuple[str, str], Span]]
    held: int
    asked: set[str]


class Sifting:
    """Sifts requests that arrive together; nothing changes until all that is to be kept is kept.

    A span that came before, the same in every field, is left out: exporters send a request again whose answer they
    missed. Each span that is refused leaves one that says so.

    Args:
        open_traces: The traces that are open.
        store: Keeps the others.
        max_spans: How many spans one trace may hold.

    Attributes:
        earlier: The kept spans of traces that are open no more, to which more has come.
    """

    def __init__(self, open_traces: OpenTraces, store: Store, *, max_spans: int) -> None:
        self.earlier: list[list[Span]] = []
        self._open = open_traces
        self._store = store
        self._max_spans = max_spans
        self._places: dict[str, _Place] = {}
        self._recalled: dict[str, list[list[Span]]] = {}

    def sift(self, spans: Sequence[Span], refused: Sequence[Refused]) -> Sifted:
        """Sift one request."""
        found = Sifted(refused=[*refused])
        for own in by_trace(spans).values():
            fresh = self._fresh(own)
            room = max(self._max_spans - self._places[own[0].trace_id].held, 0)
            found.refused += [_full(span) for span in fresh[room:]]
            self._take(found, fresh[:room])
        for own in by_trace(gaps_of(found.refused)).values():
            self._take(found, self._fresh(own))
        return found

    def _take(self, found: Sifted, fresh: list[Span]) -> None:
        if fresh:
            trace_id = fresh[0].trace_id
            place = self._places[trace_id]
            place.held += len(fresh)
            place.seen[0].update(((span.trace_id, span.span_id), span) for span in fresh)
            found.fresh.append(fresh)
            self.earlier += self._recalled.pop(trace_id, ())

    def _fresh(self, spans: Sequence[Span]) -> list[Span]:
        """Return the spans of one trace that did not come before."""
        seen = self._place(spans).seen
        fresh: dict[tuple[str, str], Span] = {}
        twice: list[Span] = []
        for span in spans:
            key = (span.trace_id, span.span_id)
            if any(each.get(key) == span for each in (fresh, *seen)):
                continue
            if key in fresh:
                twice.append(span)
            else:
                fresh[key] = span
        return [*fresh.values(), *twice]

    def _place(self, spans: Sequence[Span]) -> _Place:
        """Return what is known of a trace, and of the handoffs that spans name."""
        trace_id, named = spans[0].trace_id, handoffs_named(spans)
        place = self._places.get(trace_id)
        traces, handoffs = self._open.unknown(trace_id, named if place is None else named - place.asked)
        if place is None:
            here = self._open.found(trace_id, named)
            place = self._places[trace_id] = _Place(
                [{}, *(each.seen for each in here)], sum(len(each.spans) for each in here), set()
            )
        else:
            traces = []
        place.asked |= named
        earlier = self._store.spans_of(traces, [*map(short, handoffs)], unsettled=True) if traces or handoffs else []
        if earlier:
            self._recalled.setdefault(trace_id, []).append(earlier)
            place.held += len(earlier)
            place.seen.append({(span.trace_id, span.span_id): span for span in earlier})
        return place


def _full(span: Span) -> Refused:
    return Refused(trace_id=span.trace_id, handoff_id=named_handoff_id(span.attributes), reason=FULL)
