"""One execution of a stage: its span, what it is handed and returns, and its entry in the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from time import time_ns
from types import TracebackType
from typing import Final, Self, Unpack

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.core.handoff import Notice, StageRecord, kinds
from rop_otel.errors import refuse_unknown
from rop_otel.safety import afterwards, catch_up, is_collecting, raise_if_delivered
from rop_otel.tracing.position.context_position import (
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
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.running.span_writing import blame, write
from rop_otel.tracing.stages.openinference import openinference
from rop_otel.tracing.stages.prompting import Prompted, ShownIn, look
from rop_otel.tracing.stages.sentences import SAY_WHERE, TEXT, without_ids
from rop_otel.tracing.stages.spec import Spec
from rop_otel.tracing.stages.stage_facts import Returned, StageFacts

_NO_CONTEXT: Final = Context()


class Stage:
    """A stage while it runs. Made by :func:`rop_otel.stage` and :func:`rop_otel.using_stage`, never by hand.

    Its methods tell what only the application knows; each may be called at any time before the stage ends. Names
    with an underscore are for the modules of this package.
    """

    __slots__ = (
        "_before",
        "_began",
        "_context",
        "_facts",
        "_handed",
        "_handoff",
        "_opened",
        "_parent_id",
        "_recording",
        "_runtime",
        "_span",
        "_spec",
        "_told",
        "_wanted",
        "span_id",
        "trace_id",
    )

    def __init__(self, spec: Spec, runtime: Runtime, *, handed: object = None) -> None:
        self._spec = spec
        self._runtime = runtime
        self._facts = StageFacts(spec, runtime)
        self._handed = handed
        self._told = self._recording = False
        self._wanted = True
        self._span: Span = INVALID_SPAN
        self._context = _NO_CONTEXT

    def returned(self, results: object, **told: Unpack[Returned]) -> None:
        """Tell what the stage returns; in a decorated function it takes the place of what the function returns.

        Args:
            results: The list of documents, or of their IDs, in order.
            told: See :class:`~rop_otel.tracing.stages.stage_facts.Returned`.
        """
        if told:
            refuse_unknown("returned()", told, Returned)
        self._told = True
        if self._wanted:
            self._returned(self._spec.results.read(results, limit=self._runtime.config.max_ids), results, told)

    def shown_in(self, prompt: str | Iterable[str], results: Sequence[object], **given: Unpack[ShownIn]) -> None:
        """Report what a prompt shows of documents, in the place of :meth:`returned`: which, and how much of each.

        The documents whose text the prompt holds are recorded in its order, each with its label. Where it holds none,
        that is recorded, and where it cannot be decided, so is that: neither has a verdict.

        Args:
            prompt: What the model is asked with; of several messages, the texts.
            results: The documents that were to be shown, in order.
            given: See :class:`~rop_otel.tracing.stages.prompting.ShownIn`.
        """
        refuse_unknown("shown_in()", given, ShownIn)
        self._told = True
        if self._wanted:
            shown = self._look((prompt,) if isinstance(prompt, str) else prompt, results, given)
            if shown is not None:
                self.returned(shown.documents, shares=shown.shares, basis=shown.basis, labels=shown.labels)

    def input(self, *results: object) -> None:
        """Tell what the stage is handed: one list of documents, or several that it joins.

        Args:
            results: As for :meth:`returned`. Without this, a stage is taken to be handed what feeds it.
        """
        if self._wanted:
            self._facts.hand(results)

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Tell what really runs.

        Args:
            name: The model or method.
            fallback: True where it is one that the stage fell back to.
        """
        self._facts.tell("implementation", name)
        self._facts.tell("fallback", fallback)

    def query_form(self, form: str) -> None:
        """Tell how the query was built: ``question``, ``rewrite``, ``title`` or another."""
        self._facts.tell("query_form", form)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._spec.place}>"

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
        if error is None and not self._runtime.inherited and not self._told and self._wanted:
            self._misuse(Problem.IDS, "it ended without returned()")

    def _give_up(self) -> None:
        """End where nobody has any more what ran inside; wherever that was, this stage may still be current."""
        leave(self._context, self._before)
        self._leave(GeneratorExit())

    def _start_here(self) -> None:
        """Start at the caller's place, without becoming current."""
        catch_up()
        before = current_context()
        try:
            self._start(before, current_position(before))
        except BaseException:  # delivered in the middle
            self._span.end()
            raise

    def _start(self, before: Context, at: Position) -> None:
        """Start the span and take a place in the ledger, without becoming current."""
        handoff = at.handoff
        self._runtime = self._runtime if handoff is None else handoff._runtime  # hashed with one key, whatever comes
        self._facts.runtime = self._runtime
        self._before, self._handoff = before, handoff
        if at.round is not None:
            self._facts.told["round"] = at.round
        self._began = time_ns() if handoff is None else handoff._now()
        self._opened = self._facts.opened = None if handoff is None else handoff._opened
        if not is_collecting():  # what else sees spans begin must not run in the middle of anything
            self._start_span(before)
        self._identify(at)
        self._recording = self._span.is_recording()
        self._wanted = self._recording or self._opened is not None
        self._context = moved(before, Position(handoff, self, at.round), self._span)
        if self._opened is not None:
            self._opened.began(self)

    def _start_span(self, before: Context) -> None:
        spec, runtime = self._spec, self._runtime
        try:
            self._span = runtime.tracer.start_span(
                spec.span_name,
                before,
                spec.span_kind,
                spec.attributes if self._handoff is None else None,  # in a handoff they are written once, at the end
                start_time=self._began,
            )
        except Exception as error:  # noqa: BLE001 - a broken sampler or span processor is kept from the application
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.STAGE, spec.place, "its span could not be started")

    def _finish(self, error: BaseException | None = None) -> None:
        """End the span and hand the facts to the ledger; a stage that outlives its handoff is late."""
        if self._context is _NO_CONTEXT or self._runtime.inherited:
            return  # it did not even begin, or is none of this process
        opened = self._opened
        try:
            end = time_ns() if self._handoff is None else self._handoff._now()
            try:
                self._end_span(end, error)
            except Exception as raised:  # noqa: BLE001
                raise_if_delivered(raised)
                self._runtime.diagnostics.failure(Problem.STAGE, self._spec.place, "its span could not be ended")
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
        taken = self._told or self._take(reading)
        self._finish(error)
        if not taken and error is None:
            wrong = f"no ID can be read in what it yields; {SAY_WHERE}" if reading.ids is None else f"it yields {TEXT}"
            self._misuse(Problem.IDS, wrong)

    def unfinished(self) -> StageRecord:
        """Return what is known of the stage now, without an end."""
        return self._record(None, failed=False)

    def _returned(self, reading: Reading, results: object, told: Mapping[str, object]) -> None:
        taken = self._take(reading)
        if told:
            self._tell(told)
        if not taken:
            wrong = without_ids(results) if reading.ids is None else f"it returned {TEXT}"
            self._misuse(Problem.IDS, wrong)

    def _look(self, prompts: Iterable[str], results: Sequence[object], given: ShownIn) -> Prompted | None:
        try:
            return look(prompts, results, self._spec.results.read(results, limit=len(results)).ids or (), **given)
        except BaseException as error:  # noqa: BLE001 - the application's documents
            raise_if_delivered(error)
            self._runtime.diagnostics.failure(Problem.STAGE, self._spec.place, "no text could be read of its documents")
            return None

    def _tell(self, told: Mapping[str, object]) -> None:
        for name, value in told.items():
            if value is not None:
                said = self._facts.tell(name, value)
                if name == "labels" and said is not None and self._handoff is not None:
                    self._handoff._show(said)

    def _take(self, reading: Reading) -> bool:
        """Take in a list that has been read already; return whether it has IDs."""
        taken = self._facts.take(reading)
        if taken and self._handoff is not None and self._spec.kind != kinds.READER:
            self._handoff._attached.note(self._spec.results, self._facts.told["returned"])
        return taken

    def _identify(self, at: Position) -> None:
        context, handoff, enclosing = self._span.get_span_context(), self._handoff, at.stage
        if handoff is None:
            self.trace_id, self.span_id = format_trace_id(context.trace_id), format_span_id(context.span_id)
        elif not context.is_valid or not handoff._takes(context.span_id):
            # Without an SDK there is no span of our own: the tracer hands out none, or the parent's.
            self.trace_id, self.span_id = handoff._stage_trace_id, handoff._mint_span_id()
        else:
            same = context.trace_id == handoff._trace_number
            self.trace_id = handoff.trace_id if same else format_trace_id(context.trace_id)
            self.span_id = f"{context.span_id:016x}"
        self._parent_id = None if enclosing is None else enclosing.span_id

    def _end_span(self, end: int, error: BaseException | None) -> None:
        try:
            if self._recording:
                self._write(end, error)
        finally:
            self._span.end(end)

    def _write(self, end: int, error: BaseException | None) -> None:
        span = self._span
        attributes = self._facts.attributes()
        if self._handoff is not None:
            attributes = {**self._spec.attributes, semconv.HANDOFF_ID: self._handoff.id, **attributes}
        if self._runtime.config.openinference:
            attributes = {**openinference(self._spec.kind, self._facts.told), **attributes}
        write(span, attributes)
        if error is not None:
            blame(span, error, text=self._runtime.config.records_text, at=end)

    def _record(self, end: int | None, *, failed: bool) -> StageRecord:
        return self._facts.record(
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=self._parent_id,
            start_ns=self._began,
            end_ns=end,
            failed=failed,
        )

    def _misuse(self, where: Problem, message: str) -> None:
        self._facts.misuse(where, message)
