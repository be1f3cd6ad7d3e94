"""Spans as other conventions write them, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rop_otel import semconv
from rop_otel.core.handoff import StageRecord
from rop_otel.core.handoff.attributes import stage_record
from rop_otel.spans import Event, Span
from rop_otel.spans.conventions import Rules, as_stage
from tests.spans.trace import span

Document = dict[str, Any]
"""The fields of a document: ``id``, ``score``, ``content``, ``metadata``."""


def flattened(name: str, documents: list[Document]) -> dict[str, object]:
    """Return documents as OpenInference's instrumentations write them: an attribute for each field."""
    return {
        f"{name}.{place}.document.{key}": json.dumps(value) if isinstance(value, dict) else value
        for place, document in enumerate(documents)
        for key, value in document.items()
    }


def structured(name: str, documents: list[Document]) -> dict[str, object]:
    """Return documents as one structured value."""
    return {name: [{f"document.{key}": value for key, value in document.items()} for document in documents]}


def as_json(name: str, documents: list[Document]) -> dict[str, object]:
    """Return documents as one JSON string."""
    return {name: json.dumps(structured(name, documents)[name])}


def documents(*ids: str | None) -> list[Document]:
    """Return documents with these IDs, none where it is None, and falling scores."""
    return [
        {"content": f"text {place}", "score": 1 - place / 10} | ({} if each is None else {"id": each})
        for place, each in enumerate(ids)
    ]


def retriever(number: int, *ids: str | None, parent: int | None = None, **fields: Any) -> Span:
    """Return a retriever's span of OpenInference; ``given`` holds more attributes."""
    found = flattened("retrieval.documents", documents(*ids))
    return _marked(number, "RETRIEVER", found, parent=parent, **fields)


def reranker(number: int, handed: str, *ids: str, parent: int | None = None, **fields: Any) -> Span:
    """Return a reranker's span of OpenInference that was handed these words."""
    found = flattened("reranker.input_documents", documents(*handed.split()))
    found |= flattened("reranker.output_documents", documents(*ids))
    return _marked(number, "RERANKER", found, parent=parent, **fields)


def chain(number: int, *, parent: int | None = None, **fields: Any) -> Span:
    """Return the span of a chain, which says nothing of documents."""
    return _marked(number, "CHAIN", {}, parent=parent, **fields)


def _marked(number: int, kind: str, found: Mapping[str, object], *, parent: int | None, **fields: Any) -> Span:
    attributes = {"openinference.span.kind": kind, **found, **fields.pop("given", {})}
    ends = {} if kind == "CHAIN" else {"end_ns": number + 1}
    return span(number, parent=parent, **{"name": kind.lower(), "attributes": attributes, **ends, **fields})


def retrieval(attributes: Mapping[str, object], *events: Event, **fields: Any) -> Span:
    """Return a retrieval span of the GenAI convention."""
    marked = {semconv.GEN_AI_OPERATION: "retrieval", **attributes}
    return span(2, parent=1, **{"name": "retrieval notes", "attributes": marked, "events": events, **fields})


def read(span: Span, rules: Rules | None = None) -> StageRecord | None:
    """Return the stage that a span is read as."""
    attributes = as_stage(span, rules or Rules())
    if attributes is None:
        return None
    return stage_record(
        attributes,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=None,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        failed=span.failed,
        dropped_attributes=span.dropped_attributes,
    )


def stage_of(span: Span, rules: Rules | None = None) -> StageRecord:
    """Return the stage that a span surely is read as."""
    stage = read(span, rules)
    assert stage is not None
    return stage
