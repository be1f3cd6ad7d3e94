"""Spans that have arrived, by trace, until nothing more of them is waited for."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from rop_otel.core.handoff.attributes import handoff_id, is_handoff, is_stage, named_handoff_id
from rop_otel.monitor.refusals import is_gap
from rop_otel.spans import Span


@dataclass(slots=True, eq=False)
class OpenTrace:
    """The spans of one trace, and of those that share a handoff with it.

    Args:
        since: When the first arrived, in seconds of the clock that the service has.
        traces: The IDs of the traces.
        handoffs: IDs of handoffs that spans are, or name.
        spans: All of them, in order of arrival.
        seen: The first that came with each trace and span ID.
        last: When the last arrived.
        complete: Whether a span is here at which a handoff may end: a handoff's own, or one without a parent.
        reopened: Whether some of the spans had been settled before.
        size: How many bytes the requests had that its spans came with.
    """

    since: float
    traces: set[str] = field(default_factory=set)
    handoffs: set[str] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    seen: dict[tuple[str, str], Span] = field(default_factory=dict)
    last: float = 0.0
    complete: bool = False
    reopened: bool = False
    size: int = 0


def handoffs_named(spans: Iterable[Span]) -> set[str]:
    """Return the IDs of the handoffs that spans are, or name."""
    named = set[str]()
    for span in spans:
        if is_handoff(span.attributes):
            named.add(handoff_id(span.attributes, trace_id=span.trace_id, span_id=span.span_id))
        elif (is_stage(span.attributes) or is_gap(span)) and (other := named_handoff_id(span.attributes)) is not None:
            named.add(other)
    return named


def by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return spans by the ID of their trace."""
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        found[span.trace_id].append(span)
    return found


class OpenTraces:
    """Traces of which spans have arrived. Those that share a handoff are one.

    Args:
        quiet_seconds: How long nothing of a trace has to arrive after its handoff's span, before it is due.
        patience_seconds: After how long a trace is due whatever it holds.
    """

    def __init__(self, *, quiet_seconds: float, patience_seconds: float) -> None:
        self._quiet = quiet_seconds
        self._patience = patience_seconds
        self._by_trace: dict[str, OpenTrace] = {}
        self._by_handoff: dict[str, OpenTrace] = {}
        self._here: dict[OpenTrace, None] = {}
        self._ages: list[tuple[float, int, OpenTrace]] = []  # a heap; those that are taken out stay in it for a while
        self._numbers = count()
        self._complete: OrderedDict[OpenTrace, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._here)

    def add(self, spans: Sequence[Span], now: float, *, size: int = 0) -> OpenTrace:
        """Take in spans of one trace, and return what they are in now.

        Args:
            spans: At least one; those beyond the room for the trace are to be refused before.
            now: The time in seconds.
            size: How many bytes their request has.
        """
        trace_id, named = spans[0].trace_id, handoffs_named(spans)
        trace = self._at(trace_id, named)
        if trace is None:
            trace = OpenTrace(now)
            self._begin(trace)
        self._put(trace, {trace_id}, named)
        self._hold(trace, spans)
        trace.size += size
        self._touch(trace, spans, now)
        return trace

    def found(self, trace_id: str, handoffs: Iterable[str]) -> list[OpenTrace]:
        """Return where the spans of a trace, and those of some handoffs, are: in one place, or in several."""
        found = [self._by_trace.get(trace_id), *map(self._by_handoff.get, handoffs)]
        return list(dict.fromkeys(each for each in found if each is not None))

    def holds(self, trace_id: str) -> bool:
        """Return whether spans of a trace are here."""
        return trace_id in self._by_trace

    def unknown(self, trace_id: str, handoffs: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return what is not here of a trace and of some handoffs."""
        traces = [] if trace_id in self._by_trace else [trace_id]
        return traces, [each for each in handoffs if each not in self._by_handoff]

    def reopen(self, spans: Sequence[Span], now: float) -> None:
        """Put spans in that arrived long ago, all of those that belong together."""
        for own in by_trace(span for span in spans if span.trace_id not in self._by_trace).values():
            self.add(own, now).reopened = True

    def due(self, now: float) -> list[OpenTrace]:
        """Take out the traces of which nothing more is waited for."""
        found = list[OpenTrace]()
        while self._complete:
            first = next(iter(self._complete))
            if now - first.last < self._quiet:
                break
            self._take_out(first)
            found.append(first)
        while self._ages and now - self._ages[0][0] >= self._patience:
            oldest = heappop(self._ages)[2]
            if oldest in self._here:
                self._take_out(oldest)
                found.append(oldest)
        return found

    def put_back(self, traces: Iterable[OpenTrace]) -> None:
        """Put traces back that were taken out; those that are complete are due at the next look."""
        for trace in traces:
            self._begin(trace)
            self._put(trace, trace.traces, trace.handoffs)
            if trace.complete:
                self._complete[trace] = None
                self._complete.move_to_end(trace, last=False)

    def _begin(self, trace: OpenTrace) -> None:
        self._here[trace] = None
        heappush(self._ages, (trace.since, next(self._numbers), trace))

    def _at(self, trace_id: str, named: set[str]) -> OpenTrace | None:
        """Return where spans belong; several traces that turn out to share a handoff become one."""
        traces = self.found(trace_id, named)
        first = traces[0] if traces else None
        for other in traces:
            if first is not None and other is not first:
                self._take_out(other)
                self._put(first, other.traces, other.handoffs)
                self._hold(first, other.spans)
                if other.since < first.since:
                    first.since = other.since
                    self._begin(first)
                first.complete |= other.complete
                first.reopened |= other.reopened
                first.size += other.size
        return first

    def _put(self, trace: OpenTrace, traces: set[str], handoffs: set[str]) -> None:
        trace.traces |= traces
        trace.handoffs |= handoffs
        self._by_trace.update(dict.fromkeys(traces, trace))
        self._by_handoff.update(dict.fromkeys(handoffs, trace))

    def _hold(self, trace: OpenTrace, spans: Iterable[Span]) -> None:
        for span in spans:
            trace.spans.append(span)
            trace.seen.setdefault((span.trace_id, span.span_id), span)

    def _touch(self, trace: OpenTrace, spans: Iterable[Span], now: float) -> None:
        trace.last = now
        trace.complete |= any(
            (span.parent_id is None and not is_gap(span)) or is_handoff(span.attributes) for span in spans
        )
        if trace.complete:
            self._complete[trace] = None
            self._complete.move_to_end(trace)

    def _take_out(self, trace: OpenTrace) -> None:
        del self._here[trace]
        self._complete.pop(trace, None)
        for each in trace.traces:
            self._by_trace.pop(each, None)
        for each in trace.handoffs:
            self._by_handoff.pop(each, None)
