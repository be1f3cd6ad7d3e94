"""One execution of a stage: its span, what it is handed and returns, and its entry in the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from time import time_ns
from types import TracebackType
from typing import Final, Self, Unpack, cast

from opentelemetry.context import Context
from opentelemetry.trace import get_current_span

from rop_otel.core.handoff import Notice, StageRecord
from rop_otel.errors import refuse_unknown
from rop_otel.safety import afterwards, catch_up, is_collecting, raise_if_delivered
from rop_otel.tracing.position.context_position import (
    NOWHERE,
    Position,
    current_context,
    current_position,
    leave,
    make_current,
    moved,
    put_back,
)
from rop_otel.tracing.results.result_reader import Reading
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.prompting import Prompted, ShownIn, look
from rop_otel.tracing.stages.sentences import OUTSIDE, SAY_WHERE, TEXT
from rop_otel.tracing.stages.spec import Spec
from rop_otel.tracing.stages.stage_facts import Returned, StageFacts
from rop_otel.tracing.stages.stage_owner import Owner
from rop_otel.tracing.stages.stage_span import StageSpan

_NO_CONTEXT: Final = Context()


class LiveStage:
    """A stage that is monitored: see :class:`~rop_otel.tracing.stages.stage_protocol.Stage`.

    Names with an underscore are for the modules of this package.
    """

    __slots__ = (
        "_before",
        "_began",
        "_context",
        "_facts",
        "_handed",
        "_handoff",
        "_opened",
        "_reported",
        "_runtime",
        "_span",
        "_spec",
        "_times",
        "_wanted",
    )

    def __init__(self, spec: Spec, runtime: Runtime, *, handed: object = None) -> None:
        self._spec = spec
        self._runtime = runtime
        self._facts = StageFacts(spec, runtime)
        self._handed = handed
        self._reported = False
        self._wanted = True
        self._times: tuple[int, int] | None = None
        self._span = StageSpan()
        self._context = _NO_CONTEXT

    @property
    def trace_id(self) -> str:
        """Trace of its span."""
        return self._span.trace_id

    @property
    def span_id(self) -> str:
        """Its span."""
        return self._span.span_id

    def returned(self, results: object, **given: Unpack[Returned]) -> None:
        """Report what the stage returns."""
        if given:
            refuse_unknown("returned()", given, Returned)
        self._reported = True
        if self._wanted:
            self._facts.returned(self._spec.results.read(results, limit=self._runtime.config.max_ids), results, given)

    def shown_in(
        self, prompt: str | Iterable[str], results: Sequence[object], **given: Unpack[ShownIn]
    ) -> Prompted | None:
        """Report what a prompt shows of documents."""
        refuse_unknown("shown_in()", given, ShownIn)
        if not self._wanted:
            return None
        shown = self._look((prompt,) if isinstance(prompt, str) else prompt, results, given)
        self._facts.say({"tokens": given.get("tokens"), "token_budget": given.get("token_budget")})
        self.show(shown)
        return shown

    def show(self, shown: Prompted | None) -> None:
        """Report what a prompt shows of documents, which was looked for before; None: it cannot be decided."""
        self._reported = True
        if shown is None:
            self._facts.withhold()
        else:
            self.returned(shown.documents, shares=shown.shares, basis=shown.basis, labels=shown.labels)

    def ran(self, began: int, ended: int) -> None:
        """Report when it ran, in moments of its handoff, where it is recorded later than that: before its block."""
        self._times = began, ended

    def input(self, *results: object) -> None:
        """Report what the stage is handed."""
        if self._wanted:
            self._facts.hand(results)

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Report which implementation really runs."""
        self._facts.report("implementation", name)
        self._facts.report("fallback", fallback)

    def query_form(self, form: str) -> None:
        """Report how the query was built."""
        self._facts.report("query_form", form)

    def __repr__(self) -> str:
        return f"<Stage {self._spec.place}>"

    def __enter__(self) -> Self:
        try:
            self._start_here()
            make_current(self._context)
            if self._handed is not None:
                handed, self._handed = self._handed, None
                self.input(handed)
        except BaseException as error:  # of strict mode, or delivered; the block is never entered: nothing else ends it
            if self._context is not _NO_CONTEXT:
                self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            put_back(self._context, self._before)
        finally:
            if is_collecting():
                afterwards(partial(self._leave, error))
            else:
                self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """End with the block."""
        self._finish(error)
        if error is None and not self._runtime.inherited and not self._reported and self._wanted:
            self._facts.misuse(Problem.IDS, "it ended without returned()")

    def _give_up(self) -> None:
        """End a stage whose generator or coroutine nobody has any more; the stage may still be current somewhere."""
        leave(self._context, self._before)
        self._leave(GeneratorExit())

    def _start_here(self) -> None:
        """Start at the caller's place, without becoming current."""
        catch_up()
        before = current_context()
        try:
            self._start(before, current_position(before))
        except BaseException:  # delivered in the middle
            self._span.span.end()
            raise

    def _start(self, before: Context, at: Position) -> None:
        """Start the span and take a place in the ledger, without becoming current."""
        handoff = cast("Owner | None", at.handoff)
        self._before, self._handoff, self._facts.owner = before, handoff, handoff
        self._opened: OpenHandoff | None = None
        if handoff is None:
            self._began = time_ns()
            if at is NOWHERE and not get_current_span(before).get_span_context().is_valid:
                self._runtime.diagnostics.remark(Problem.STAGE, self._spec.place, OUTSIDE)
        else:
            self._runtime = self._facts.runtime = handoff.runtime  # hashed with one key, whatever comes
            self._began = self._times[0] if self._times else handoff.trace.now()
            self._opened = handoff.opened
        if at.round is not None:
            self._facts.fields["round"] = at.round
        if not is_collecting():  # what else sees spans begin must not run in the middle of anything
            self._span.start(self._facts, before, at=self._began)
        self._span.identify(handoff, None if at.stage is None else at.stage.span_id)
        self._wanted = self._span.is_recording or self._opened is not None
        self._context = moved(before, Position(at.handoff, self, at.round), self._span.span)
        if self._opened is not None:
            self._opened.began(self)

    def _finish(self, error: BaseException | None = None) -> None:
        """End the span and hand the facts to the ledger; a stage that outlives its handoff is late."""
        if self._context is _NO_CONTEXT or self._runtime.inherited:
            return  # it did not even begin, or is none of this process
        opened = self._opened
        try:
            end = self._times[1] if self._times else time_ns() if self._handoff is None else self._handoff.trace.now()
            try:
                self._span.end(self._facts, error, at=end)
            finally:
                # They lead back here: a cycle would leave the IDs to the collector.
                self._context = self._before = _NO_CONTEXT
                if opened is not None and not opened.ended(self._record(end, failed=error is not None), self):
                    self._runtime.diagnostics.notice(Notice.LATE)
        except BaseException:  # delivered
            if opened is not None:
                opened.lost(self)
            raise

    def _end(self, reading: Reading, error: BaseException | None = None) -> None:
        """Finish a stage that yielded its documents."""
        taken = self._reported or self._facts.take(reading)
        self._finish(error)
        if not taken and error is None:
            wrong = f"no ID can be read in what it yields; {SAY_WHERE}" if reading.ids is None else f"it yields {TEXT}"
            self._facts.misuse(Problem.IDS, wrong)

    def unfinished(self) -> StageRecord:
        """Return what is known of the stage now, without an end."""
        return self._record(None, failed=False)

    def _look(self, prompts: Iterable[str], results: Sequence[object], given: ShownIn) -> Prompted | None:
        text, pattern = given.get("text"), given.get("label_pattern")
        try:
            ids = self._spec.results.read(results, limit=len(results)).ids or ()
            return look(prompts, results, ids, text=text, beside=given.get("beside", ()), label_pattern=pattern)
        except BaseException as error:  # noqa: BLE001 - the application's documents
            raise_if_delivered(error)
            place = self._spec.place
            self._runtime.diagnostics.failure(Problem.STAGE, place, "no text could be read of its documents")
            return None

    def _record(self, end: int | None, *, failed: bool) -> StageRecord:
        span = self._span
        return StageRecord(
            **{**self._spec.facts, **self._facts.fields},
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_id=span.parent_id,
            start_ns=self._began,
            end_ns=end,
            failed=failed,
        )
