"""The span processor: takes in the stages and handoffs of others, in our attributes or in those of their convention."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import Link, NonRecordingSpan, format_span_id

from rop_otel import semconv
from rop_otel.assembling import Elsewhere, Node, OwnedStage, Reading, owner_of
from rop_otel.assembling.span_tree import HANDOFF
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, Notice, attributes
from rop_otel.export.foreign_span import ForeignSpan, is_ours
from rop_otel.export.foreign_spans import PROCESS_SPANS, ForeignSpans
from rop_otel.safety import afterwards, catch_up, raise_if_delivered
from rop_otel.spans.conventions import Rules
from rop_otel.tracing.position.context_position import current_position
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime, current

_NOWHERE: Final = (
    "its verdicts are written to no span, since the global tracer provider records none; "
    "call rop_otel.configure(tracer_provider=...) with the provider that it was added to"
)


class RopSpanProcessor(SpanProcessor):
    """Feeds the ledger with spans that others made, and assesses the handoffs among them.

    Spans of our own API reach the ledger directly, so those are left alone. An ended span can no longer be written
    on: the verdict goes to a child span of the handoff span. Whatever goes wrong is counted and kept from the
    application, since an exception of a span processor would replace the application's own. Added twice, it counts
    once: the processors of a process share what they know.

    Args:
        runtime: Returns the runtime in force; None: do nothing. By default, that of the process.
        spans: Where open spans are kept; by default, the process's own place.
    """

    def __init__(self, runtime: Callable[[], Runtime | None] = current, *, spans: ForeignSpans = PROCESS_SPANS) -> None:
        self._runtime = runtime
        self._spans = spans
        self._rules: tuple[Config | None, Rules] = (None, Rules())

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Note a span that begins."""
        catch_up()
        runtime = self._runtime()
        if runtime is None or not runtime.enabled or runtime.config.assess != "local":
            return
        try:
            self._started(span, parent_context, runtime)
        except Exception as error:  # noqa: BLE001 - an exception here would reach the application
            raise_if_delivered(error)
            runtime.diagnostics.failure(Problem.PROCESSOR, "span start", "a span could not be taken in")

    def on_end(self, span: ReadableSpan) -> None:
        """Take in a span that has ended."""
        if self._spans.are_there:
            afterwards(partial(self._end, span))

    def _end(self, span: ReadableSpan) -> None:
        node = self._spans.take(span)
        if node is None:
            return
        runtime, is_taken_in = self._runtime(), False
        try:
            if runtime is not None and (node.read() is not None or node.below or node.opened is not None):
                _ended(self._spans, node, runtime)
                is_taken_in = True
        except Exception as error:  # noqa: BLE001
            raise_if_delivered(error)
            if runtime is not None:
                runtime.diagnostics.failure(Problem.PROCESSOR, "span end", "a span could not be taken in")
        finally:
            if not is_taken_in:
                self._spans.expired(node)

    def _started(self, span: Span, parent_context: Context | None, runtime: Runtime) -> None:
        above = self._spans.at(span.parent)
        if is_ours(span) and (above is None or not _is_unclaimed_stage(span)):
            if above is not None:
                _ours_below(above, span, parent_context, runtime)
            return
        place = current_position(parent_context) if above is None else None
        node = ForeignSpan(span, place, self._rules_of(runtime.config), self._spans.give_up)
        reading = node.note() if self._spans.started(node, above) else None
        if reading is not None and reading.is_handoff:
            node.runtime = runtime
            node.opened = runtime.ledger.open(node.handoff_id)
        elif reading is not None:
            _announce(node, reading, runtime)

    def _rules_of(self, config: Config) -> Rules:
        """Return the rules of a configuration, made once for each."""
        known, rules = self._rules
        if known is not config:
            rules = Rules.of(config)
            self._rules = (config, rules)
        return rules


def _ended(spans: ForeignSpans, node: ForeignSpan, runtime: Runtime) -> None:
    stages = spans.ended(node, _by_name(runtime), seconds=runtime.config.ttl_seconds)
    if stages is None:
        _announce(node, node.read(), runtime)
    elif node.is_handoff:
        _assess(node, stages, runtime)
        return
    else:
        for stage in stages:
            _hand_over(stage, runtime)
    if node.opened is not None and node.runtime is not None:
        node.runtime.ledger.close(node.opened)


def _ours_below(above: ForeignSpan, span: Span, context: Context | None, runtime: Runtime) -> None:
    """Note a span of our own that begins below a span of others."""
    if attributes.is_handoff(span.attributes or {}):
        above.hold(HANDOFF)
        return
    handoff = current_position(context).handoff
    opened = None if handoff is None else runtime.ledger.find(handoff.id)
    own = span.get_span_context()
    if opened is not None and own is not None:
        opened.runs_within(format_span_id(own.span_id), above)


def _by_name(runtime: Runtime) -> Callable[[str], Elsewhere | None]:
    """Return what finds the handoffs that are open now."""
    find = runtime.ledger.find
    return lambda named: None if find(named) is None else Elsewhere(named)


def _announce(node: ForeignSpan, reading: Reading | None, runtime: Runtime) -> None:
    """Let a handoff that may end before a stage is handed over know of it: ours, or one that the stage names."""
    if reading is None or not reading.is_stage:
        return
    owner = owner_of(reading, node.nearest_handoff(), _by_name(runtime))
    opened = runtime.ledger.find(owner.handoff_id) if isinstance(owner, Elsewhere) else None
    if opened is not None:
        node.announced = opened
        opened.began(node)


def _hand_over(stage: OwnedStage, runtime: Runtime) -> None:
    """Give a stage that has ended to its handoff in the ledger; where that is over, the stage is late."""
    node, owner = stage.node, stage.owner
    if not isinstance(node, ForeignSpan) or not node.ended or node.counted or owner is None:
        return
    if isinstance(owner, Node):
        if owner.ended:
            runtime.diagnostics.notice(Notice.LATE)
        return
    opened, record = runtime.ledger.find(owner.handoff_id), stage.record()
    node.counted = True
    if opened is None or (record is not None and not opened.ended(record, node)):
        runtime.diagnostics.notice(Notice.LATE)


def _assess(handoff: ForeignSpan, stages: Iterable[OwnedStage], now: Runtime) -> None:
    """Assess a handoff whose span others opened, and write the verdict beside it."""
    runtime = handoff.runtime or now
    opened = handoff.opened
    if opened is None or opened.handoff_id != handoff.handoff_id:
        if opened is not None:
            runtime.ledger.close(opened)
        opened = runtime.ledger.open(handoff.handoff_id)
    if opened is None:
        return
    for stage in stages:
        node, record = stage.node, stage.record()
        if stage.owner is not handoff:
            _hand_over(stage, runtime)
        elif isinstance(node, ForeignSpan) and record is not None:
            if node.announced is not None and node.announced is not opened:
                node.announced.lost(node)  # it took the stage for its own
            node.counted = node.ended
            opened.ended(record, node)
    gathered = runtime.ledger.close(opened)
    if gathered is None:
        return
    whole = handoff.handoff_record(gathered)
    _write(runtime.assess(whole), handoff, runtime, at=whole.end_ns)


def _write(assessment: Assessment, handoff: ForeignSpan, runtime: Runtime, *, at: int) -> None:
    above = trace.set_span_in_context(NonRecordingSpan(handoff.context), Context())
    span = runtime.tracer.start_span(
        semconv.SPAN_ASSESSMENT,
        above,
        attributes=attributes.assessment_attributes(assessment),
        links=[Link(handoff.context)],
        start_time=at,
    )
    made = span.get_span_context()
    if not made.is_valid or made.span_id == handoff.context.span_id:  # without an SDK it is no span, or the parent's
        runtime.diagnostics.misuse(Problem.PROCESSOR, "RopSpanProcessor", _NOWHERE)
    span.end(at)


def _is_unclaimed_stage(span: Span) -> bool:
    """Return whether a span of our own is a stage that found no handoff of our own."""
    facts = span.attributes or {}
    return attributes.is_stage(facts) and attributes.named_handoff_id(facts) is None
