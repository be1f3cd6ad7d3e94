"""One execution of a stage: its span, what it is handed and returns, and its entry in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from time import time_ns
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.core.handoff import Ids, Notice, StageRecord
from rop_otel.safety import afterwards, catch_up, is_collecting, raise_if_delivered
from rop_otel.tracing.facts import StageFacts
from rop_otel.tracing.here import Here, current_context, here, leave, make_current, moved, put_back
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.openinference import openinference
from rop_otel.tracing.reading import Reading, lists_in
from rop_otel.tracing.runtime import Runtime
from rop_otel.tracing.scalars import as_count, as_id, as_name, as_score, plainly
from rop_otel.tracing.sentences import SAY_INPUT, SAY_WHERE, TEXT, described, without_ids
from rop_otel.tracing.spec import Spec
from rop_otel.tracing.texts import is_text
from rop_otel.tracing.writing import blame, write

_T = TypeVar("_T")
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
        "_round",
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
        self._facts = StageFacts(spec)
        self._handed = handed
        self._told = self._recording = False
        self._wanted = True
        self._span: Span = INVALID_SPAN
        self._context = _NO_CONTEXT

    def returned(
        self,
        results: object,
        *,
        labels: Iterable[str] | None = None,
        tokens: int | None = None,
        token_budget: int | None = None,
        id_tokens: Iterable[int] | None = None,
        scores: Iterable[float] | None = None,
        scopes: Iterable[str] | None = None,
    ) -> None:
        """Tell what the stage returns; in a decorated function it takes the place of what the function returns.

        Args:
            results: The list of documents, or of their IDs, in order.
            labels: Citation label of each.
            tokens: Tokens used in all.
            token_budget: Tokens allowed.
            id_tokens: Tokens of text shown for each; one with 0 was not shown.
            scores: Score of each, where the documents carry none.
            scopes: Scope of each, where the documents carry none.
        """
        self._told = True
        if not self._wanted:
            return
        reading = self._spec.results.read(results, limit=self._runtime.config.max_ids)
        taken = self._take(reading)
        facts = self._facts
        if scores is not None:
            facts.scores = self._aligned("scores", scores, as_score)
        if scopes is not None:
            aligned = self._short("scopes", self._aligned("scopes", scopes, _as_scope))
            facts.scopes = None if aligned is None else self._runtime.hashed(aligned)
        if labels is not None:
            shown = self._short("labels", self._labels(labels))
            facts.labels = None if shown is None else self._runtime.hashed_labels(shown)
            if self._handoff is not None and shown is not None:
                self._handoff._show(shown)
        if id_tokens is not None:
            facts.id_tokens = self._aligned("id_tokens", id_tokens, as_count)
        if tokens is not None:
            facts.tokens = self._count("tokens", tokens)
        if token_budget is not None:
            facts.token_budget = self._count("token_budget", token_budget)
        if not taken:
            wrong = without_ids(results) if reading.ids is None else f"it returned {TEXT}"
            self._misuse(Mishap.IDS, wrong)

    def input(self, *results: object) -> None:
        """Tell what the stage is handed: one list of documents, or several that it joins.

        Args:
            results: As for :meth:`returned`. Without this, a stage is taken to be handed what feeds it.
        """
        if not self._wanted:
            return
        limit = self._runtime.config.max_ids
        lists: list[Ids] = []
        total = 0
        for result in chain.from_iterable(map(lists_in, results)):
            if result is None:
                return
            if total >= limit and type(result) is list:
                total += len(result)  # of what is not recorded, only the number
                continue
            reading = self._spec.inputs.read(result, limit=limit)
            read = reading.ids
            if read is None:
                self._misuse(Mishap.INPUT, f"no ID can be read in the input, {described(result)}; {SAY_INPUT}")
                return
            if is_text(reading, self):
                self._misuse(Mishap.INPUT, f"it is handed {TEXT}")
                return
            if total < limit:
                lists.append(read)
            total += reading.total or len(read)
        ids = lists[0] if len(lists) == 1 else tuple(chain.from_iterable(lists))
        if total > limit:
            ids = ids[:limit]
            self._facts.input_count = total
        self._facts.input = self._runtime.hashed(ids)

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Tell what really runs.

        Args:
            name: The model or method.
            fallback: True where it is one that the stage fell back to.
        """
        named = as_name(name, self._runtime.shape)
        if named is not None:
            self._facts.implementation = named
        else:
            self._misuse(Mishap.STAGE, f"implementation {plainly(name)} is no name")
        try:
            self._facts.fallback = bool(fallback)
        except BaseException as error:  # noqa: BLE001 - the application's object
            raise_if_delivered(error)
            self._misuse(Mishap.STAGE, f"fallback {plainly(fallback)} is neither true nor false")

    def query_form(self, form: str) -> None:
        """Tell how the query was built: ``question``, ``rewrite``, ``title`` or another."""
        named = as_name(form, self._runtime.shape)
        if named is not None:
            self._facts.query_form = named
        else:
            self._misuse(Mishap.STAGE, f"query form {plainly(form)} is no name")

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
            self._misuse(Mishap.IDS, "it ended without returned()")

    def _give_up(self) -> None:
        """End where nobody has any more what ran inside; wherever that was, this stage may still be current."""
        leave(self._context, self._before)
        self._leave(GeneratorExit())

    def _start_here(self) -> None:
        """Start at the caller's place, without becoming current."""
        catch_up()
        before = current_context()
        try:
            self._start(before, here(before))
        except BaseException:  # delivered in the middle
            self._span.end()
            raise

    def _start(self, before: Context, at: Here) -> None:
        """Start the span and take a place in the ledger, without becoming current."""
        handoff = at.handoff
        self._runtime = self._runtime if handoff is None else handoff._runtime  # hashed with one key, whatever comes
        self._before, self._round, self._handoff = before, at.round, handoff
        self._began = time_ns() if handoff is None else handoff._now()
        self._opened = None if handoff is None else handoff._opened
        if not is_collecting():  # what else sees spans begin must not run in the middle of anything
            self._start_span(before)
        self._identify(at)
        self._recording = self._span.is_recording()
        self._wanted = self._recording or self._opened is not None
        self._context = moved(before, Here(handoff, self, at.round), self._span)
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
            runtime.mishaps.failure(Mishap.STAGE, spec.place, "its span could not be started")

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
                self._runtime.mishaps.failure(Mishap.STAGE, self._spec.place, "its span could not be ended")
            finally:
                # They lead back here: a cycle would leave the IDs to the collector.
                self._context = self._before = _NO_CONTEXT
                if opened is not None and not opened.ended(self._record(end, failed=error is not None), self):
                    self._runtime.mishaps.notice(Notice.LATE)
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
            self._misuse(Mishap.IDS, wrong)

    def unfinished(self) -> StageRecord:
        """Return what is known of the stage now, without an end."""
        return self._record(None, failed=False)

    def _take(self, reading: Reading) -> bool:
        """Take in a list that has been read already; return whether it has IDs. Of text nothing is kept."""
        if reading.ids is None:
            return False
        facts, runtime = self._facts, self._runtime
        if is_text(reading, self):
            facts.returned = facts.returned_count = facts.scores = facts.scopes = None
            return False
        facts.returned = runtime.hashed(reading.ids)
        facts.returned_count = reading.total
        facts.scores = reading.scores
        if reading.scopes is not None:
            facts.scopes = runtime.hashed(reading.scopes) if runtime.shape.fit(reading.scopes) else None
        return True

    def _cite(self, citations: tuple[str, ...]) -> None:
        """Take in the labels that an answer cites; one that is text is none."""
        short = tuple(label for label in citations if self._runtime.shape.fit((label,)))
        self._facts.citations = self._runtime.hashed_labels(short)

    def _identify(self, at: Here) -> None:
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
        attributes: dict[str, Any] = {}
        if self._handoff is not None:
            attributes = {**self._spec.attributes, semconv.HANDOFF_ID: self._handoff.id}
        self._facts.write_on(attributes)
        if self._round is not None:
            attributes[semconv.ROUND] = self._round
        if self._runtime.config.openinference:
            attributes = {**openinference(self._spec.kind, self._facts), **attributes}
        write(span, attributes)
        if error is not None:
            blame(span, error, text=self._runtime.config.records_text, at=end)

    def _record(self, end: int | None, *, failed: bool) -> StageRecord:
        return self._facts.record(
            self._spec,
            round_number=self._round,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=self._parent_id,
            start_ns=self._began,
            end_ns=end,
            failed=failed,
        )

    def _aligned(
        self, what: str, values: Iterable[object], read: Callable[[object], _T | None]
    ) -> tuple[_T, ...] | None:
        """Return values that stand beside the IDs, cut as those are; None, and a mishap, where one cannot be used."""
        limit = self._runtime.config.max_ids
        try:
            given = [] if type(values) is str else list(islice(values, limit))
            taken = [value for each in given if (value := read(each)) is not None]
        except BaseException as error:  # noqa: BLE001 - the application's objects
            raise_if_delivered(error)
            given, taken = [None], []
        if type(values) is str or len(taken) != len(given):
            self._misuse(Mishap.STAGE, f"{what} are {described(values)}; they must be a list, one for each document")
            return None
        return tuple(taken)

    def _labels(self, labels: Iterable[str]) -> tuple[str, ...] | None:
        if type(labels) is list and len(labels) <= self._runtime.config.max_ids:
            try:
                "".join(labels)  # raises where one is no string, and is the quickest way to find out
                return tuple(labels)
            except TypeError:
                pass
        return self._aligned("labels", labels, as_id)

    def _short(self, what: str, texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return texts that are short enough to be recorded; None, and a mishap, where one is not."""
        if texts is None or self._runtime.shape.fit(texts):
            return texts
        self._misuse(Mishap.STAGE, f"{what} are longer than an ID may be, and are left out")
        return None

    def _count(self, what: str, value: object) -> int | None:
        number = as_count(value)
        if number is None:
            self._misuse(Mishap.STAGE, f"{what} is {plainly(value)}; it must be a whole number")
        return number

    def _misuse(self, where: Mishap, message: str) -> None:
        self._runtime.mishaps.misuse(where, self._spec.place, message)


def _as_scope(value: object) -> str:
    return as_id(value) or ""
