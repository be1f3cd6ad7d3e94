"""The span processor: takes in the stages and handoffs of others, in our attributes or in those of their convention."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import Link, NonRecordingSpan, format_span_id

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, Notice, attributes
from rop_otel.export.foreign import is_ours
from rop_otel.export.node import Node
from rop_otel.export.open_spans import PROCESS_SPANS, OpenSpans
from rop_otel.safety import afterwards, catch_up, raise_if_delivered
from rop_otel.spans.conventions import Rules
from rop_otel.tracing.here import here
from rop_otel.tracing.ledger import OpenHandoff
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runtime import Runtime, current

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
        runtime: Tells what to work with at the time; None: do nothing. By default, what the process is configured
            with.
        spans: Where open spans are kept; by default, the process's own place.
    """

    def __init__(self, runtime: Callable[[], Runtime | None] = current, *, spans: OpenSpans = PROCESS_SPANS) -> None:
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
            runtime.mishaps.failure(Mishap.PROCESSOR, "span start", "a span could not be taken in")

    def on_end(self, span: ReadableSpan) -> None:
        """Take in a span that has ended."""
        afterwards(partial(self._end, span))

    def _end(self, span: ReadableSpan) -> None:
        node = self._spans.take(span)
        runtime = None if node is None else self._runtime()
        if node is None or runtime is None:
            return
        try:
            self._ended(node, runtime)
        except Exception as error:  # noqa: BLE001
            raise_if_delivered(error)
            runtime.mishaps.failure(Mishap.PROCESSOR, "span end", "a span could not be taken in")

    def _started(self, span: Span, parent_context: Context | None, runtime: Runtime) -> None:
        parent = self._spans.above(span)
        if is_ours(span) and (parent is None or not _is_unclaimed_stage(span)):
            if parent is not None:
                _ours_below(parent, span, parent_context, runtime)
            return
        place = here(parent_context) if parent is None else None
        node = Node(span, parent, place, self._rules_of(runtime.config))
        if not self._spans.add(span, node):
            return
        facts = node.facts
        if not facts:
            return
        node.begin()
        if attributes.is_handoff(facts):
            node.runtime = runtime
            node.opened = runtime.ledger.open(node.handoff_id)
        elif attributes.is_stage(facts) and not any(above.is_handoff for above in node.ancestors()):
            opened = runtime.ledger.find(node.belonging() or "")
            if opened is not None:
                opened.began(node)

    def _rules_of(self, config: Config) -> Rules:
        """Return the rules of a configuration, made once for each."""
        known, rules = self._rules
        if known is not config:
            rules = Rules.of(config)
            self._rules = (config, rules)
        return rules

    def _ended(self, node: Node, runtime: Runtime) -> None:
        if not (node.facts or node.waiting or node.opened or node.awaited):
            return  # nearly every span; what has ended is waited at no more
        is_handoff = node.is_handoff
        if is_handoff:
            node.speak_out()
        with self._spans.lock:
            if node.is_stage and not _hand_over_by_name(node, runtime):
                node.waiting.append(node)
            running = self._spans.running_stages(node) if node.awaited and not is_handoff else ()
            is_handoff = is_handoff or node.becomes_handoff(running)
            waiting, node.waiting = node.waiting, deque()
            own: list[Node] = []
            for stage in waiting:
                if is_handoff and stage.belongs_to(node.handoff_id):
                    own.append(stage)
                else:
                    _move_up(stage, node, runtime)
        if is_handoff:
            _assess(node, own + self._spans.running_stages(node), runtime)
        elif node.opened is not None and node.runtime is not None:
            node.runtime.ledger.close(node.opened)


def _ours_below(parent: Node, span: Span, context: Context | None, runtime: Runtime) -> None:
    """Note a span of our own that begins below one of somebody else's."""
    if attributes.is_handoff(span.attributes or {}):
        parent.outspoken = True
        parent.speak_out()
        return
    handoff = here(context).handoff
    opened = None if handoff is None else runtime.ledger.find(handoff.id)
    own = span.get_span_context()
    if opened is not None and own is not None:
        opened.runs_within(format_span_id(own.span_id), parent)


def _hand_over_by_name(stage: Node, runtime: Runtime) -> bool:
    """Give a stage that names an open handoff to it, wherever that is; the ones above it are waited for instead."""
    named = attributes.named_handoff_id(stage.facts)
    if named is None or any(above.handoff_id == named for above in stage.ancestors()):
        return False
    opened = runtime.ledger.find(named)
    return opened is not None and _hand_over(stage, opened, runtime)


def _move_up(stage: Node, ended: Node, runtime: Runtime) -> None:
    """Let a stage wait at the next open span above one that has ended; at the top, give it to our own handoff."""
    for above in ended.ancestors():
        if not above.ended:
            above.keep(stage, seconds=runtime.config.ttl_seconds)
            return
        if above.is_handoff and stage.belongs_to(above.handoff_id):
            runtime.mishaps.notice(Notice.LATE)
            return
    place = ended.top().place
    if place is None or place.handoff is None or not stage.belongs_to(place.handoff.id):
        return
    opened = runtime.ledger.find(place.handoff.id)
    if opened is None:
        runtime.mishaps.notice(Notice.LATE)
    else:
        _hand_over(stage, opened, runtime)


def _hand_over(stage: Node, opened: OpenHandoff, runtime: Runtime) -> bool:
    record = stage.record()
    if record is not None and not opened.ended(record, stage):
        runtime.mishaps.notice(Notice.LATE)
    return True


def _assess(handoff: Node, stages: list[Node], now: Runtime) -> None:
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
        _hand_over(stage, opened, runtime)
    gathered = runtime.ledger.close(opened)
    if gathered is None:
        return
    end = handoff.end_ns
    record = attributes.handoff_record(
        handoff.handoff_facts,
        trace_id=handoff.trace_id,
        span_id=handoff.span_id,
        start_ns=handoff.start_ns,
        end_ns=end,
        stages=gathered,
    )
    _write(runtime.assess(record), handoff, runtime, at=end)


def _write(assessment: Assessment, handoff: Node, runtime: Runtime, *, at: int) -> None:
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
        runtime.mishaps.misuse(Mishap.PROCESSOR, "RopSpanProcessor", _NOWHERE)
    span.end(at)


def _is_unclaimed_stage(span: Span) -> bool:
    """Return whether a span of our own is a stage that found no handoff of our own."""
    facts = span.attributes or {}
    return attributes.is_stage(facts) and attributes.named_handoff_id(facts) is None
