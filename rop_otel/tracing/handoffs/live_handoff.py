"""One handoff: its span, what was selected, what was answered, and what is concluded at its end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from time import monotonic_ns, time_ns
from types import TracebackType
from typing import Any, Final, Self, Unpack
from uuid import uuid4

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, format_span_id, format_trace_id, get_current_span

from rop_otel import semconv
from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.handoff.attributes import assessment_attributes, handoff_attributes
from rop_otel.core.handoff.record import HANDOFF_FACTS
from rop_otel.errors import refuse_unknown
from rop_otel.safety import WhenGone, afterwards, catch_up, is_collecting, raise_if_delivered
from rop_otel.tracing.handoffs.answering import OF_ANSWERS, Answered, Attached, cited_labels
from rop_otel.tracing.handoffs.declared import no_id_in, selected_ids
from rop_otel.tracing.position.context_position import (
    Position,
    current_context,
    current_position,
    leave,
    make_current,
    moved,
    put_back,
)
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.open_runs import LiveRun
from rop_otel.tracing.running.runtime import Runtime, current
from rop_otel.tracing.running.span_writing import blame
from rop_otel.tracing.stages.live_stage import Stage
from rop_otel.tracing.stages.noop_stage import NOOP_STAGE
from rop_otel.tracing.stages.openinference import CHAIN
from rop_otel.tracing.stages.spec import READER

_INHERITED: Final = "it belongs to the process that this one was forked from"


class Handoff:
    """One trip from a selected object, or just a question, to the evidence that a reader is shown.

    Made by :func:`rop_otel.handoff`, whose block ends it, and :func:`rop_otel.start_handoff`, which :meth:`close` ends.
    A ``with`` block makes it current for the stages inside. Names with an underscore are for the modules of this
    package.

    Attributes:
        id: Its unique ID.
        trace_id: Trace of its span in hex, empty without an SDK.
    """

    def __init__(self, record: HandoffRecord, runtime: Runtime, *, closes: bool, run: LiveRun | None = None) -> None:
        self._record = _hashed(record, runtime)
        self._runtime = runtime
        self._closes = closes
        self._run = run
        self._assessment: Assessment | None = None
        self._span: Span = INVALID_SPAN
        self._opened: OpenHandoff | None = None
        self._gone: WhenGone | None = None
        self._entered: list[tuple[Context, Context]] = []
        self._closings = count()
        self._numbers = count(1)
        self._shown: list[str] = []
        self._attached = Attached()
        self._failed = False
        self._taken: set[int] = set()
        self.id = ""
        self.trace_id = ""

    @property
    def name(self) -> str:
        """Name of the interface."""
        return self._record.name

    @property
    def assessment(self) -> Assessment:
        """What was concluded; before the end, or where nothing was, one without a verdict whose note says why."""
        catch_up()
        return self._assessment or self._without_verdict(_INHERITED if self._runtime.inherited else "it is still open")

    @property
    def running_stage(self) -> Stage:
        """The stage that the caller runs in, so that a decorated function can tell what its result does not.

        Outside of any stage it is one that does nothing.

        >>> import rop_otel as rop
        >>> @rop.stage("rerank")
        ... def rerank(hits):
        ...     rop.current_handoff().running_stage.implementation("word overlap", fallback=True)
        ...     return sorted(hits)
        >>> rerank(["b", "a"])
        ['a', 'b']
        """
        return current_position().stage or NOOP_STAGE

    def select(self, selected: object) -> None:
        """Tell which object was selected upstream, and so has to reach the reader.

        Args:
            selected: Its ID, or an object that carries one; a list: declared alternatives. None or an empty list:
                a selection was due and none came, which is the verdict ``SELECTOR_ERROR``.
        """
        if self._is_over("select()"):
            return
        ids = selected_ids(selected, self._runtime.shape)
        self._record = replace(self._record, selected=self._runtime.hashed(ids))
        if "" in ids:
            self._complain(Problem.HANDOFF, no_id_in(selected))

    def answered(self, text: str, **told: Unpack[Answered]) -> None:
        """Tell what the reader answered. The text itself is never recorded, only the labels that it cites.

        Args:
            text: The answer.
            told: See :class:`~rop_otel.tracing.handoffs.answering.Answered`.
        """
        refuse_unknown("answered()", told, Answered)
        if self._is_over("answered()"):
            return
        at = current_position()
        place = Position(self, None, at.round if at.handoff is self else None)
        stage = Stage(READER, self._runtime)
        stage._start(moved(self._before, Position(self), self._span), place)
        try:
            self._answer(stage, text, told)
        finally:
            stage._finish()

    def _answer(self, stage: Stage, text: str, told: Answered) -> None:
        sources, named = told.get("sources"), f"handoff {self.name!r}"
        if sources is not None and stage._wanted:
            reading = self._attached.read(sources, told.get("id"), self._runtime, named)
            stage._returned(reading, sources, {"labels": told.get("labels")})
        stage._tell({name: value for name, value in told.items() if name in OF_ANSWERS})
        cited = cited_labels(text, told.get("citations"), self._shown, self._runtime, named)
        stage._facts.cite(cited)

    def close(self) -> Assessment:
        """End the handoff and assess it; a second call changes nothing."""
        if self._runtime.inherited:
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

    def _close(self) -> None:
        end = self._now()
        self._assessment = self._without_verdict("its assessment raised")
        try:
            self._assessment = self._assess(end)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            self._runtime.diagnostics.failure(Problem.HANDOFF, self.name, "it could not be closed")
        finally:
            if self._opened is not None and not self._opened.is_closed:  # it was interrupted
                self._runtime.ledger.abandon(self._opened)
            if self._gone is not None:
                self._gone.cancel()
                self._gone = None
            self._end_span(end)

    def __enter__(self) -> Self:
        if not self.id:
            if self._runtime.inherited:  # made before the fork, begun after it
                self._runtime = current()
            self._start()
        if self._runtime.inherited:
            return self
        self._is_over("a with block")
        before = current_context()
        context = moved(before, Position(self), self._span)
        try:
            self._entered.append((context, before))
            make_current(context)
        except BaseException as error:  # delivered; the block is never entered, so nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._leave()
        except BaseException:  # delivered in the middle
            if self._closes:
                self._leave_all()
            raise
        finally:
            if not self._runtime.inherited:
                afterwards(partial(self._exit, error))

    def _exit(self, error: BaseException | None) -> None:
        """End with the block, if the block ends it."""
        try:
            if error is not None:
                self._blame(error)
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
        return f"<{type(self).__name__} {self.assessment}>"

    def __copy__(self) -> Self:
        return self  # a second one would end, or be given up, in the place of the first

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def _start(self) -> None:
        """Start the span and take a place in the ledger."""
        try:
            self._begin()
        except BaseException:  # delivered in the middle: nobody can end what has begun
            if self._opened is not None:
                self._runtime.ledger.abandon(self._opened)
            self._span.end()
            raise

    def _begin(self) -> None:
        catch_up()
        runtime, self._before = self._runtime, current_context()
        self._began = time_ns()
        # From here on time is counted, not read: a clock that is set back cannot make a stage late.
        self._offset = self._began - monotonic_ns()
        self._latest = self._began
        if not is_collecting():  # what else sees spans begin must not run in the middle of anything
            self._start_span()
        self._identify()
        if runtime.config.assess == "local":
            self._opened = runtime.ledger.open(self.id)
            if self._opened is not None:
                self._gone = WhenGone(self, partial(runtime.ledger.abandon, self._opened))
        if self._run is not None:
            self._run.started()

    def _start_span(self) -> None:
        runtime, name = self._runtime, semconv.SPAN_HANDOFF.format(name=self.name)
        try:
            self._span = runtime.tracer.start_span(
                name, self._before, attributes={semconv.HANDOFF_NAME: self.name}, start_time=self._began
            )
        except Exception as error:  # noqa: BLE001 - a broken sampler or span processor is kept from the application
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.HANDOFF, self.name, "its span could not be started")

    def _identify(self) -> None:
        context = self._span.get_span_context()
        self._trace_number = context.trace_id
        self._taken.add(context.span_id)
        self.trace_id = format_trace_id(context.trace_id) if context.is_valid else ""
        if context.is_valid and context.span_id != get_current_span(self._before).get_span_context().span_id:
            self._span_id = format_span_id(context.span_id)
            self._stage_trace_id = self.trace_id
            self.id = f"{self.trace_id}-{self._span_id}"
        else:  # without an SDK the tracer hands out no span, or the parent's
            self._span_id = ""
            self._stage_trace_id = self.trace_id or uuid4().hex
            self.id = f"{self._stage_trace_id}-{uuid4().hex[:16]}"

    def _now(self) -> int:
        """Return the time, later than any before: the order of stages must not hang on how finely a clock ticks."""
        self._latest = max(self._offset + monotonic_ns(), self._latest + 1)
        return self._latest

    def _takes(self, number: int) -> bool:
        """Return whether the number of a stage's span is new; it is not where an application seeds ``random``."""
        is_new = number not in self._taken
        self._taken.add(number)
        return is_new

    def _mint_span_id(self) -> str:
        return format_span_id(next(self._numbers))

    def _show(self, labels: tuple[str, ...]) -> None:
        """Remember labels that a stage showed, from which those in the answer are told."""
        self._shown += labels

    def _leave(self) -> None:
        """Make what was current before the block current again.

        Several threads may be in blocks of it. Where none of these is the one here, it is closed elsewhere.
        """
        current = current_position()
        for place in range(len(self._entered) - 1, -1, -1):
            if current_position(self._entered[place][0]) is current:
                try:
                    put_back(*self._entered[place])
                except BaseException:  # delivered at its beginning
                    leave(*self._entered[place])
                    raise
                finally:
                    del self._entered[place]
                return
        if self._closes or len(self._entered) == 1:
            if current.handoff is self and self._entered:  # a block in it was interrupted before it could be left
                make_current(self._entered[0][1])
            self._leave_all()

    def _leave_all(self) -> None:
        for entered in self._entered:
            leave(*entered)
        self._entered.clear()

    def _assess(self, end: int) -> Assessment:
        config, opened = self._runtime.config, self._opened
        if config.assess == "monitor":
            return self._without_verdict("the monitor assesses it")
        if opened is None:
            return self._without_verdict("too many handoffs were open")
        stages = self._runtime.ledger.close(opened)
        if stages is None:
            return self._without_verdict(f"it was open for more than {config.ttl_seconds:g} s")
        record = replace(
            self._record,
            handoff_id=self.id,
            trace_id=self.trace_id,
            span_id=self._span_id,
            stages=stages,
            failed=self._failed,
            start_ns=self._began,
            end_ns=end,
        )
        return self._runtime.assess(record, self._run)

    def _end_span(self, end: int) -> None:
        try:
            try:
                if self._span.is_recording():
                    self._span.set_attributes(self._attributes())
            finally:
                self._span.end(end)
        except Exception as error:  # noqa: BLE001
            raise_if_delivered(error)
            self._runtime.diagnostics.failure(Problem.HANDOFF, self.name, "its span could not be ended")

    def _attributes(self) -> dict[str, Any]:
        attributes = {**handoff_attributes(self._record), semconv.HANDOFF_ID: self.id}
        if self._runtime.config.openinference:
            attributes[semconv.OPENINFERENCE_SPAN_KIND] = CHAIN
        if self._assessment is not None:
            attributes.update(assessment_attributes(self._assessment))
        return attributes

    def _blame(self, error: BaseException) -> None:
        self._failed = True
        try:
            if self._span.is_recording():
                blame(self._span, error, text=self._runtime.config.records_text)
        except Exception as raised:  # noqa: BLE001
            raise_if_delivered(raised)
            self._runtime.diagnostics.failure(Problem.HANDOFF, self.name, "its exception could not be recorded")

    def _is_over(self, call: str) -> bool:
        over = self._assessment is not None
        if over and not self._runtime.inherited:
            self._complain(Problem.HANDOFF, f"{call} came after the end of the handoff")
        return over or self._runtime.inherited

    def _complain(self, where: Problem, message: str) -> None:
        self._runtime.diagnostics.misuse(where, f"handoff {self.name!r}", message)

    def _without_verdict(self, note: str) -> Assessment:
        told = self._record
        return Assessment(
            handoff_name=told.name,
            handoff_id=self.id,
            trace_id=self.trace_id,
            record_id=told.record_id,
            run_id=told.run_id,
            note=note,
        )


def _hashed(record: HandoffRecord, runtime: Runtime) -> HandoffRecord:
    """Return a record with the IDs in it as they are recorded."""
    if runtime.config.hash_key is None:
        return record
    raws = {each.field: getattr(record, each.field) for each in HANDOFF_FACTS if each.hashed is not None}
    hashed: dict[str, Any] = {name: runtime.hashed_value(raw) for name, raw in raws.items() if raw is not None}
    return replace(record, **hashed)
