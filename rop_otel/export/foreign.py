"""One span that somebody else makes: what it says, while it runs and after it has ended."""

from __future__ import annotations

from typing import Final, NamedTuple
from weakref import ref

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext, Status, StatusCode, format_span_id, format_trace_id

from rop_otel import semconv
from rop_otel.core.handoff import StageRecord, attributes
from rop_otel.safety import WhenGone
from rop_otel.spans import from_sdk
from rop_otel.spans.conventions import Rules, admitted, as_stage, concerns, handoff_attributes

_NOTHING: Final[attributes.Attributes] = {}


class _Remains(NamedTuple):
    """What is kept of the span of a stage beside its facts, under the names that the SDK has for it."""

    name: str
    start_time: int | None
    end_time: int | None
    status: Status
    dropped_attributes: int


class ForeignSpan:
    """A span of somebody else's, from its start on.

    Args:
        span: The span. Until it ends it belongs to whoever started it, and is not kept alive here.
        rules: How spans of other conventions are read.

    Attributes:
        context: Its trace and its own ID.
        gone: Forgets it where nobody has its span any more, before that has ended.
    """

    __slots__ = ("_admitted", "_facts", "_finished", "_ours", "_rules", "_running", "context", "gone")

    def __init__(self, span: ReadableSpan, rules: Rules) -> None:
        self._running = ref(span)
        self.gone: WhenGone | None = None
        self._finished: ReadableSpan | _Remains | None = None
        self._rules = rules
        self._ours = is_ours(span)
        self._admitted = self._ours
        self._facts: attributes.Attributes | None = None
        self.context: SpanContext = span.get_span_context() or INVALID_SPAN_CONTEXT

    def end(self, span: ReadableSpan) -> None:
        """Take the finished span."""
        self._finished = span

    def shrink(self) -> None:
        """Keep nothing of an ended stage but what counts: its span may hold the texts of its documents."""
        span = self._finished
        if span is not None and self.facts:
            self._finished = _Remains(span.name, span.start_time, span.end_time, span.status, span.dropped_attributes)

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._finished is not None

    @property
    def start_ns(self) -> int:
        """When it started."""
        span = self._span
        return 0 if span is None else span.start_time or 0

    @property
    def end_ns(self) -> int:
        """When it ended."""
        return 0 if self._finished is None else self._finished.end_time or 0

    @property
    def trace_id(self) -> str:
        """Its trace, in hex."""
        return format_trace_id(self.context.trace_id)

    @property
    def span_id(self) -> str:
        """Its own ID, in hex."""
        return format_span_id(self.context.span_id)

    @property
    def facts(self) -> attributes.Attributes:
        """Its attributes as they are now: ours that they stand for, where it is a stage of another convention.

        None of a span that they make neither a stage nor a handoff.
        """
        if self._facts is not None:
            return self._facts
        span = self._span
        if span is None or isinstance(span, _Remains):
            return _NOTHING
        facts: attributes.Attributes = span.attributes or _NOTHING
        if concerns(facts, self._rules, lost=span.dropped_attributes):
            read = as_stage(from_sdk(span), self._rules)
            self._admitted = self._ours or read is not None  # what our own stages say is hashed already
            facts = facts if read is None else read
        else:
            facts = _NOTHING
        if self._finished is not None:
            self._facts = facts
        return facts

    @property
    def says_handoff(self) -> bool:
        """Whether its attributes say that it is a handoff; without reading its documents, since all above one ask."""
        span = self._span
        if self._facts is not None or span is None or isinstance(span, _Remains):
            return attributes.is_handoff(self._facts or _NOTHING)
        return attributes.is_handoff(span.attributes or _NOTHING)

    @property
    def admitted_facts(self) -> attributes.Attributes:
        """The same as this process may repeat them: hashed where there is a key, and without text."""
        facts = self.facts
        return facts if self._admitted else admitted(facts, self._rules)

    @property
    def is_stage(self) -> bool:
        """Whether it is a stage, by our attributes or in another convention."""
        return attributes.is_stage(self.facts)

    @property
    def is_homeless(self) -> bool:
        """Whether it is a stage of another convention that names no handoff."""
        facts = self.facts
        return semconv.STAGE_FOREIGN in facts and attributes.named_handoff_id(facts) is None

    @property
    def may_be_handoff(self) -> bool:
        """Whether it may be a handoff by its name."""
        span = self._span
        return span is not None and self._rules.may_be_handoff(span.name)

    def stage_record(self, *, parent_id: str | None) -> StageRecord | None:
        """Return its facts as a stage; None where it is none, or was given up. One that is still open has no end.

        Args:
            parent_id: Span ID of the nearest enclosing stage of the same handoff.
        """
        span = self._span
        if span is None:
            return None
        return attributes.stage_record(
            self.admitted_facts,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=parent_id,
            start_ns=self.start_ns,
            end_ns=self.end_ns if self.ended else None,
            failed=span.status.status_code is StatusCode.ERROR,
            dropped_attributes=span.dropped_attributes,
        )

    def taken_for_handoff(self) -> attributes.Attributes | None:
        """Return its attributes as a handoff that does not say so itself; None where its span has not ended whole."""
        span = self._finished
        if not isinstance(span, ReadableSpan):
            return None
        name = admitted({semconv.HANDOFF_NAME: span.name}, self._rules)
        return {**name, **handoff_attributes(span.attributes or _NOTHING, self._rules)}

    @property
    def _span(self) -> ReadableSpan | _Remains | None:
        """The span; None where it was given up without an end."""
        return self._finished or self._running()


def is_ours(span: ReadableSpan) -> bool:
    """Return whether our own API made a span."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE_NAME
