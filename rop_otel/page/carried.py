"""What spans carry beside the facts of a handoff, as far as the page shows it."""

from __future__ import annotations

from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff import values
from rop_otel.spans import Span

Key = tuple[str, str]
"""Trace ID and span ID."""

_QUERIES: Final = (semconv.GEN_AI_QUERY_TEXT, semconv.OPENINFERENCE_INPUT)


class Carried:
    """Collected span by span: services, depths that were asked for and, where that is allowed, texts of queries.

    Args:
        text: Whether texts of queries may be kept. Texts of documents never are.
    """

    def __init__(self, *, text: bool = False) -> None:
        self._text = text
        self._services: dict[str, str | None] = {}
        self._elsewhere: dict[Key, str | None] = {}
        self._top_k: dict[Key, int] = {}
        self._queries: dict[Key, str] = {}

    def add(self, span: Span) -> None:
        """Take in what one span carries."""
        key = (span.trace_id, span.span_id)
        if self._services.setdefault(span.trace_id, span.service) != span.service:
            self._elsewhere[key] = span.service
        top_k = values.integer(span.attributes.get(semconv.GEN_AI_TOP_K))
        if top_k is not None:
            self._top_k[key] = top_k
        if self._text:
            query = next((found for name in _QUERIES if (found := values.text(span.attributes.get(name)))), None)
            if query is not None:
                self._queries[key] = query

    def service(self, trace_id: str, span_id: str) -> str | None:
        """Return the service that a span is from, None where it does not say so."""
        return self._elsewhere.get((trace_id, span_id), self._services.get(trace_id))

    def top_k(self, trace_id: str, span_id: str) -> int | None:
        """Return how many documents a stage was asked for, None where its span does not say so."""
        return self._top_k.get((trace_id, span_id))

    def query(self, trace_id: str, span_id: str) -> str | None:
        """Return the text of a span's query; None where there is none, or where texts may not be kept."""
        return self._queries.get((trace_id, span_id))
