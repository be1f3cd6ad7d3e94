"""Spans in, assessed handoffs out: one thread that keeps, puts together, assesses and counts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final

from rop_otel.assembling import Assembled
from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.handoff.sink import Notice
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.errors import RopError
from rop_otel.meters.tally import Tally
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.forwarding import Forwarder
from rop_otel.monitor.kept_handoffs import KeptHandoffs
from rop_otel.monitor.kept_runs import KeptRuns
from rop_otel.monitor.open_traces import OpenTrace, OpenTraces, by_trace, handoffs_named
from rop_otel.monitor.refusals import Answer, answer_to, is_gap
from rop_otel.monitor.sifting import Sifted, Sifting
from rop_otel.monitor.store import Settled, Store
from rop_otel.monitor.stored import short
from rop_otel.monitor.subscribers import Subscribers
from rop_otel.safety import create_lock
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules
from rop_otel.spans.refused import Refused

_log = logging.getLogger("rop_otel.monitor")

_TICK_SECONDS: Final = 0.05
"""How often it is looked what is due, where nothing arrives."""

_GROUP_SPANS: Final = 5000
"""How many spans are kept in one transaction."""

_RENEWED: Final = 200
"""How many traces of an older version are settled again at a time."""

_STEP_SECONDS: Final = 10.0
"""How often old handoffs are deleted."""


class BusyError(RopError):
    """More is waiting than there is memory for: the sender has to try again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings:
    """What the service does, and how much it may hold.

    Args:
        quiet_seconds: How long nothing of a trace has to arrive after a handoff's span, before it is assessed. Longer
            than services keep spans back, which OpenTelemetry's exporters do for five seconds.
        patience_seconds: After how long a trace is settled whatever it holds.
        retention_seconds: How long handoffs are kept; None for ever.
        retention_bytes: How much the store may hold before the oldest go; None for no limit.
        max_waiting_bytes: Bytes of requests that may wait to be kept, or be in traces that are not settled.
        max_trace_spans: Spans of one trace; what is beyond is refused.
        clock: Gives the time in seconds.
    """

    quiet_seconds: float = 10.0
    patience_seconds: float = 300.0
    retention_seconds: float | None = 7 * 86_400.0
    retention_bytes: int | None = None
    max_waiting_bytes: int = 256 * 1024 * 1024
    max_trace_spans: int = 10_000
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class _Arrived:
    spans: Sequence[Span]
    refused: Sequence[Refused]
    size: int
    answer: Future[Answer]


@dataclass(frozen=True, slots=True)
class _Assessed:
    record: HandoffRecord
    assessment: Assessment
    seconds: float


class Monitor:
    """The service without its doors.

    Args:
        store: Keeps spans and handoffs. It is closed by :meth:`close`.
        tally: Counts what is assessed.
        resolver: The resolver in force; None: an ID stands for itself.
        declaration: The declaration of a run, whose handoffs are assessed by it, and whose resolver is in force.
        rules: How spans of other conventions are read.
        settings: See there.
        forwarder: Gets each request that was accepted; None: nobody does. It is closed by :meth:`close`.

    Attributes:
        kept: What is shown of the handoffs that are kept.
        runs: What is shown of their runs.
        subscribers: Those who get news of each handoff that is settled.
    """

    def __init__(
        self,
        store: Store,
        tally: Tally,
        *,
        resolver: Resolver | None = None,
        declaration: Opened | None = None,
        rules: Rules | None = None,
        settings: MonitorSettings = MonitorSettings(),
        forwarder: Forwarder | None = None,
    ) -> None:
        self.store = store
        self.tally = tally
        self._assessor = Assessor(resolver, declaration, rules)
        self.kept = KeptHandoffs(store, self._assessor)
        self.runs = KeptRuns(store, declaration)
        self.subscribers = Subscribers()
        self._is_stale = True
        self._settings = settings
        self._forwarder = forwarder
        self._queue: SimpleQueue[_Arrived] = SimpleQueue()
        self._waiting = 0
        self._lock = create_lock()
        self._ending = False
        self._forgotten_at = -float("inf")
        self._open = OpenTraces(
            quiet_seconds=settings.quiet_seconds,
            patience_seconds=settings.patience_seconds,
        )
        self.failure: Exception | None = None
        for own in by_trace(store.open_spans()).values():
            traces, handoffs = self._open.unknown(own[0].trace_id, handoffs_named(own))
            self._open.reopen(store.spans_of(traces, [*map(short, handoffs)]), settings.clock())
            self._open.add(own, settings.clock())
        self._thread = Thread(target=self._run, name="rop_otel.monitor", daemon=True)

    def start(self) -> None:
        """Begin to work in a thread of its own, until :meth:`close`."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it takes spans in."""
        return self._thread.is_alive()

    @property
    def open_traces(self) -> int:
        """How many traces are not settled."""
        return len(self._open)

    @property
    def waiting_bytes(self) -> int:
        """How many bytes of requests wait to be kept, or are in traces that are not settled."""
        return self._waiting

    def submit(self, spans: Sequence[Span], *, size: int, refused: Sequence[Refused] = ()) -> Future[Answer]:
        """Take in the spans of a request.

        Args:
            spans: Of any number of traces; may be empty.
            size: How many bytes the request has.
            refused: Its spans that could not be read.

        Returns:
            Done when the spans are kept, with what is answered: how many were refused, those whose trace is full
            among them. It fails where they cannot be kept.

        Raises:
            BusyError: There is no memory for them now, or the service is ending.
        """
        with self._lock:
            if self._ending or self._waiting + size > self._settings.max_waiting_bytes:
                raise BusyError("more spans wait than there is memory for; send them again later")
            self._waiting += size
        arrived = _Arrived(spans, refused, size, Future())
        self._queue.put(arrived)
        return arrived.answer

    def forward(self, body: bytes, kind: str, spans: int) -> None:
        """Pass a request on that was accepted, if that is asked for; see :class:`Forwarder`."""
        if self._forwarder is not None:
            self._forwarder.forward(body, kind, spans)

    def close(self) -> None:
        """Keep what has arrived, let open traces wait in the store, and close it."""
        with self._lock:
            self._ending = True
        if self._thread.ident is not None:
            self._thread.join()
        self.store.close()
        if self._forwarder is not None:
            self._forwarder.close()

    def work(self, *, seconds: float = 0.0) -> None:
        """Keep what has arrived, and settle what is due; what fails is logged, and tried again the next time.

        Args:
            seconds: How long to wait for something to arrive.
        """
        try:
            self._take_in(self._arrived(seconds))
            self._settle(self._open.due(self._settings.clock()))
            self._renew()
            self._forget_old()
            self.failure = None
        except Exception as error:  # noqa: BLE001 - a full disk, a locked file: senders try again, the service goes on
            if self.failure is None:
                _log.exception("the store failed; senders try again")
            self.failure = error
            self.tally.noticed(Notice.ERROR, where="store")

    def _run(self) -> None:
        while True:
            ending = self._ending
            self.work(seconds=_TICK_SECONDS)
            if self.failure is not None:
                time.sleep(_TICK_SECONDS)
            if ending and self._queue.empty():
                return

    def _arrived(self, seconds: float) -> list[_Arrived]:
        """Return what has arrived, as soon as there is something, or nothing after a while."""
        found: list[_Arrived] = []
        count = 0
        try:
            found.append(self._queue.get(block=seconds > 0, timeout=seconds))
            count = len(found[0].spans)
            while count < _GROUP_SPANS:
                found.append(self._queue.get_nowait())
                count += len(found[-1].spans)
        except Empty:
            pass
        return found

    def _take_in(self, arrived: Sequence[_Arrived]) -> None:
        """Keep spans, and answer: a request is answered when its spans are durable."""
        if not arrived:
            return
        try:
            sifting = Sifting(self._open, self.store, max_spans=self._settings.max_trace_spans)
            sifted = [sifting.sift(each.spans, each.refused) for each in arrived]
            if any(each.fresh for each in sifted):
                self.store.spool([span for each in sifted for own in each.fresh for span in own])
        except Exception as error:
            for each in arrived:
                self._release(each.size)
                each.answer.set_exception(error)
            raise
        now = self._settings.clock()
        for earlier in sifting.earlier:
            self._open.reopen(earlier, now)
        for each, found in zip(arrived, sifted, strict=True):
            self._admit(found, now, size=each.size)
            each.answer.set_result(answer_to(found.refused))

    def _admit(self, found: Sifted, now: float, *, size: int) -> None:
        """Add what is new to the open traces; the first of them holds the size of the request."""
        for own in found.fresh:
            trace = self._open.add(own, now, size=size)
            size = 0
            if trace.reopened:
                self._notice(Notice.LATE, len(own))
        self._release(size)
        self._notice(Notice.REFUSED, len(found.refused))

    def _notice(self, notice: Notice, times: int) -> None:
        for _ in range(times):
            self.tally.noticed(notice)

    def _release(self, size: int) -> None:
        with self._lock:
            self._waiting -= size

    def _settle(self, traces: Sequence[OpenTrace]) -> None:
        """Assess what traces amount to, keep it, and count what is new."""
        if not traces:
            return
        new: list[_Assessed] = []
        waiting: set[OpenTrace] = set()
        try:
            settled = [found for trace in traces if (found := self._settled(trace, new, waiting)) is not None]
            self.store.settle(settled)
        except Exception:
            self._open.put_back(traces)
            raise
        self.subscribers.publish(handoff for each in settled for handoff in each.handoffs)
        self._open.put_back(waiting)
        for each in new:
            self.tally.assessed(each.record, each.assessment, seconds=each.seconds)
        for trace in traces:
            if trace not in waiting:
                self._release(trace.size)

    def _settled(self, trace: OpenTrace, new: list[_Assessed], waiting: set[OpenTrace]) -> Settled | None:
        """Return what a trace amounts to.

        None where that fails, so that its spans stay open in the store, and where it holds stages whose handoff may
        still arrive: it waits then, whatever else arrives.
        """
        try:
            assembled = self._assessor.assembled(trace.spans)
            is_waiting = not assembled.handoffs and (assembled.orphan_stages or assembled.incomplete)
            if is_waiting and self._settings.clock() - trace.since < self._settings.patience_seconds:
                trace.complete = False
                waiting.add(trace)
                return None
            return self._assess(trace, assembled, new)
        except Exception:  # noqa: BLE001 - one broken trace must not keep the others
            _log.exception("trace %s cannot be assessed; its spans are kept", min(trace.traces))
            self.tally.noticed(Notice.ERROR, where="assess")
            return None

    def _assess(
        self, trace: OpenTrace, assembled: Assembled, new: list[_Assessed], *, at_ns: int | None = None
    ) -> Settled:
        services = {(span.trace_id, span.span_id): span.service for span in trace.spans}
        handoffs = []
        for record in assembled.handoffs:
            begun = time.perf_counter()
            assessment = self._assessor.assess(record)
            seconds = time.perf_counter() - begun
            service = services.get((record.trace_id, record.span_id))
            stored = self._assessor.stored(record, assessment, service=service)
            handoffs.append(stored)
            if not (trace.reopened and self.store.trace_of(stored.handoff_id)):
                new.append(_Assessed(record, assessment, seconds))
        self._notice(Notice.EXPIRED, len(assembled.incomplete))
        has_gap = any(map(is_gap, trace.spans))
        return Settled(
            traces=tuple(sorted(trace.traces)),
            handoffs=tuple(handoffs),
            named=tuple(sorted(map(short, trace.handoffs))),
            at_ns=time.time_ns() if at_ns is None else at_ns,
            waits=bool(assembled.orphan_stages or assembled.incomplete or has_gap),
        )

    def _renew(self) -> None:
        """Settle traces again that an older version has settled, as of then, some at a time."""
        if not self._is_stale:
            return
        stale = self.store.stale(_RENEWED)
        settled = []
        for trace_id, at_ns in stale:
            spans = self.store.spans_of([trace_id], [])
            traces = {trace_id, *(span.trace_id for span in spans)}
            if not any(map(self._open.holds, traces)):  # else it is settled soon
                trace = OpenTrace(0.0, traces=traces, handoffs=handoffs_named(spans), spans=spans, reopened=True)
                settled.append(self._assess(trace, self._assessor.assembled(spans), [], at_ns=at_ns))
        self._is_stale = bool(settled)
        self.store.settle(settled)

    def _forget_old(self) -> None:
        settings = self._settings
        now = settings.clock()
        if now - self._forgotten_at < _STEP_SECONDS:
            return
        before = 0 if settings.retention_seconds is None else time.time_ns() - int(settings.retention_seconds * 1e9)
        if not self.store.forget(before_ns=before, max_bytes=settings.retention_bytes):
            self._forgotten_at = now
