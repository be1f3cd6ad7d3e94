"""One handoff: its span, its selection, its answers, and its assessment at the end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Final, Self, Unpack

from rop_otel import semconv
from rop_otel.core.handoff import Assessment, HandoffRecord, Ids
from rop_otel.core.handoff.attributes import assessment_attributes, handoff_attributes
from rop_otel.core.handoff.record import HANDOFF_FACTS
from rop_otel.errors import refuse_unknown
from rop_otel.safety import WhenGone, afterwards, catch_up, is_collecting, raise_if_delivered
from rop_otel.tracing.handoffs.answering import Answered
from rop_otel.tracing.handoffs.answers import Answers
from rop_otel.tracing.handoffs.declared import no_id_in, selected_ids
from rop_otel.tracing.handoffs.kept_records import KeptRecords
from rop_otel.tracing.position.context_position import Position, current_context, moved, using_context
from rop_otel.tracing.position.entered_blocks import EnteredBlocks
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.handoff_trace import HandoffTrace
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.open_runs import LiveRun
from rop_otel.tracing.running.runtime import Runtime, current
from rop_otel.tracing.stages.openinference_attributes import CHAIN
from rop_otel.tracing.stages.stage_protocol import Stage
from rop_otel.tracing.stages.using import running_stage

_INHERITED: Final = "it belongs to the process that this one was forked from"


class LiveHandoff:
    """A handoff that is monitored: see :class:`~rop_otel.tracing.handoffs.handoff_protocol.Handoff`.

    Args:
        record: The facts with which it is opened.
        runtime: Its configuration, ledger, tracer and sinks.
        closes: Whether its block ends it.
        run: The run that it joined.

    Attributes:
        kept: What is recorded at its end.
        notes: What instrumentation packages keep with it, each under keys of its own.
    """

    def __init__(self, record: HandoffRecord, runtime: Runtime, *, closes: bool, run: LiveRun | None = None) -> None:
        self._record = _hashed(record, runtime)
        self._selected = self._record.selected
        self._closes, self._run = closes, run
        self._assessment: Assessment | None = None
        self._gone: WhenGone | None = None
        self._blocks = EnteredBlocks()
        self._closings = count()
        self._answers = Answers()
        self.kept = KeptRecords()
        self.notes: dict[object, Any] = {}
        self.runtime = runtime
        self.trace = HandoffTrace(record.name)
        self.opened: OpenHandoff | None = None
        self.lists: dict[Ids, Ids] = {}
        self.note, self.show = self._answers.attached.note, self._answers.show

    @property
    def id(self) -> str:
        """Its unique ID."""
        return self.trace.id

    @property
    def trace_id(self) -> str:
        """Trace of its span."""
        return self.trace.trace_id

    @property
    def name(self) -> str:
        """Name of the interface."""
        return self._record.name

    @property
    def assessment(self) -> Assessment:
        """The assessment, or one without a verdict that says why."""
        catch_up()
        return self._assessment or self._without_verdict(_INHERITED if self.runtime.inherited else "it is still open")

    @property
    def running_stage(self) -> Stage:
        """The stage in which the caller runs, else one that does nothing."""
        return running_stage()

    @property
    def selected(self) -> Ids | None:
        """What was selected, as it is recorded; None where no selection was due."""
        return self._selected

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._assessment is not None

    def citations_in(self, text: str) -> tuple[str, ...]:
        """Return the labels that an answer cites, as they are found where the answer is reported."""
        return self._answers.citations_in(text, self.runtime, f"handoff {self.name!r}")

    def select(self, selected: object) -> None:
        """Report which object was selected upstream."""
        if self._is_over("select()"):
            return
        ids = selected_ids(selected, self.runtime.shape)
        self._selected = self.runtime.hashed(ids)
        if "" in ids:
            self._complain(no_id_in(selected))

    def answered(self, text: str, **given: Unpack[Answered]) -> None:
        """Report what the reader answered."""
        refuse_unknown("answered()", given, Answered)
        if not self._is_over("answered()"):
            self._settle()
            self._answers.record(text, given, self)

    def close(self) -> Assessment:
        """End the handoff and assess it; a second call changes nothing."""
        if self.runtime.inherited:
            return self.assessment
        if self._assessment is None and is_collecting():
            afterwards(self.close)
            return self._without_verdict("it is assessed after the garbage collector")
        if next(self._closings) == 0:
            try:
                catch_up()
            finally:
                self._close()
        return self.assessment

    def _settle(self) -> None:
        """Record the facts that were kept back, inside of the handoff."""
        if self.kept:
            with using_context(moved(current_context(), Position(self), self.trace.span)):
                self.kept.settle()

    def _close(self) -> None:
        self._settle()
        end = self.trace.now()
        self._assessment = self._without_verdict("its assessment raised")
        try:
            self._assessment = self._assess(end)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            self.runtime.diagnostics.failure(Problem.HANDOFF, self.name, "it could not be closed")
        finally:
            if self.opened is not None and not self.opened.is_closed:  # it was interrupted
                self.runtime.ledger.abandon(self.opened)
            if self._gone is not None:
                self._gone.cancel()
                self._gone = None
            self.trace.end(self.runtime, self._attributes, at=end)
            self.lists.clear()

    def __enter__(self) -> Self:
        if not self.id:
            if self.runtime.inherited:  # made before the fork, begun after it
                self.runtime = current()
            self._start()
        if self.runtime.inherited:
            return self
        self._is_over("a with block")
        before = current_context()
        try:
            self._blocks.enter(moved(before, Position(self), self.trace.span), before)
        except BaseException as error:  # delivered; the block is never entered, so nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._blocks.leave(self, last=self._closes)
        except BaseException:  # delivered in the middle
            if self._closes:
                self._blocks.leave_all()
            raise
        finally:
            if not self.runtime.inherited:
                afterwards(partial(self._exit, error))

    def _exit(self, error: BaseException | None) -> None:
        """End with the block, if the block ends it."""
        try:
            if error is not None:
                self.trace.blame(self.runtime, error)
        finally:
            if self._closes:
                self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"<Handoff {self.assessment}>"

    def __copy__(self, memo: object = None) -> Self:
        return self  # a second one would end, or be given up, in the place of the first

    __deepcopy__ = __copy__

    def _start(self) -> None:
        """Start the span and take a place in the ledger."""
        try:
            self._begin()
        except BaseException:  # delivered in the middle: nobody can end what has begun
            if self.opened is not None:
                self.runtime.ledger.abandon(self.opened)
            self.trace.span.end()
            raise

    def _begin(self) -> None:
        catch_up()
        runtime = self.runtime
        self.trace.start(runtime, current_context())
        if runtime.config.assess == "local":
            self.opened = runtime.ledger.open(self.id)
            if self.opened is not None:
                self._gone = WhenGone(self, partial(runtime.ledger.abandon, self.opened))
        if self._run is not None:
            self._run.started()

    def _assess(self, end: int) -> Assessment:
        config, opened = self.runtime.config, self.opened
        if config.assess == "monitor":
            return self._without_verdict("the monitor assesses it")
        if opened is None:
            return self._without_verdict("too many handoffs were open")
        stages = self.runtime.ledger.close(opened)
        if stages is None:
            return self._without_verdict(f"it was open for more than {config.ttl_seconds:g} s")
        record = self.trace.observed(self._record, stages, selected=self._selected, end_ns=end)
        return self.runtime.assess(record, self._run, origins=lambda: self._answers.attached.origins)

    def _attributes(self) -> dict[str, Any]:
        said = handoff_attributes(self._record, selected=self._selected)
        return {**said, **_kind(self.runtime), **_concluded(self._assessment), semconv.HANDOFF_ID: self.id}

    def _is_over(self, call: str) -> bool:
        over = self._assessment is not None
        if over and not self.runtime.inherited:
            self._complain(f"{call} came after the end of the handoff")
        return over or self.runtime.inherited

    def _complain(self, message: str) -> None:
        self.runtime.diagnostics.misuse(Problem.HANDOFF, f"handoff {self.name!r}", message)

    def _without_verdict(self, note: str) -> Assessment:
        return _unassessed(self._record, self.trace, note)


def _kind(runtime: Runtime) -> dict[str, str]:
    return {semconv.OPENINFERENCE_SPAN_KIND: CHAIN} if runtime.config.openinference else {}


def _concluded(assessment: Assessment | None) -> dict[str, str | int | tuple[str, ...]]:
    return {} if assessment is None else assessment_attributes(assessment)


def _unassessed(record: HandoffRecord, trace: HandoffTrace, note: str) -> Assessment:
    return Assessment(
        handoff_name=record.name,
        handoff_id=trace.id,
        trace_id=trace.trace_id,
        record_id=record.record_id,
        run_id=record.run_id,
        note=note,
    )


def _hashed(record: HandoffRecord, runtime: Runtime) -> HandoffRecord:
    """Return a record with the IDs in it as they are recorded."""
    if runtime.config.hash_key is None:
        return record
    raws = {each: getattr(record, each.field) for each in HANDOFF_FACTS if each.hashed is not None}
    hashed = {each.field: runtime.recorded(raw, each) for each, raw in raws.items() if raw is not None}
    return replace(record, **hashed)
