"""Spans taken in one by one: those that are ours or can be read as ours, and what else may matter of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from rop_otel import semconv
from rop_otel.core.handoff.attributes import is_handoff, is_stage
from rop_otel.replay.ancestry import Key
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules, admitted, as_stage, handoff_attributes


class Other(NamedTuple):
    """What is kept of a span that says nothing of a handoff: all that matters should it be one.

    Args:
        end_ns, start_ns, name: Of the span.
        attributes: Those of the handoff that it would be, beside its name.
    """

    end_ns: int
    start_ns: int
    name: str
    attributes: Mapping[str, object]

    def as_handoff(self, key: Key) -> Span:
        """Return the span as a handoff."""
        attributes = {semconv.HANDOFF_NAME: self.name, **self.attributes}
        return Span(
            trace_id=key[0],
            span_id=key[1],
            name=self.name,
            start_ns=self.start_ns,
            end_ns=self.end_ns,
            attributes=attributes,
        )


class TakenIn:
    """Spans by trace and span ID; the same whatever their order.

    Args:
        rules: How spans of other conventions are read.

    Attributes:
        stages: Stage spans, with our attributes.
        handoffs: Handoff spans.
        others: The spans of others that say nothing of a handoff, stages by attributes of ours set by hand included.
        foreign: Which stages are read out of spans of other conventions.
        unreadable: How many spans of others were left out, since they cannot be read.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._links: dict[Key, str] = {}
        self.stages: dict[Key, Span] = {}
        self.handoffs: dict[Key, Span] = {}
        self.others: dict[Key, Other] = {}
        self.foreign: set[Key] = set()
        self.unreadable = 0

    def add(self, span: Span) -> None:
        """Take in a span."""
        key = (span.trace_id, span.span_id)
        self._links[key] = max(self._links.get(key, ""), span.parent_id or "")
        self.unreadable += span.unreadable
        if span.unreadable or span.name == semconv.SPAN_ASSESSMENT:
            return
        stage, handoff = is_stage(span.attributes), is_handoff(span.attributes)
        foreign = span.scope != semconv.SCOPE_NAME
        if stage or handoff:
            told = replace(span, attributes=admitted(span.attributes, self._rules)) if foreign else span
            _put(self.stages if stage else self.handoffs, key, told)
        if foreign and not handoff:
            read = None if stage else as_stage(span, self._rules)
            if read is not None:
                self.foreign.add(key)
                _put(self.stages, key, replace(span, attributes=read, events=()))
            other = Other(span.end_ns, span.start_ns, span.name, handoff_attributes(span.attributes, self._rules))
            known = self.others.get(key)
            self.others[key] = other if known is None or known == other else max(known, other, key=repr)

    def parents(self) -> dict[Key, Key | None]:
        """Return the parent of every span."""
        return {key: (key[0], parent) if parent else None for key, parent in self._links.items()}


def _put(found: dict[Key, Span], key: Key, span: Span) -> None:
    other = found.get(key)
    found[key] = span if other is None or span == other else max(span, other, key=_later)


def _later(span: Span) -> tuple[int, int, str]:
    """Order spans that differ though they have one ID, which only a broken writer makes."""
    return (span.end_ns, span.start_ns, repr(span))
