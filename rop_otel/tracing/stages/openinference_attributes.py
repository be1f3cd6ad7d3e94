"""Our stages in OpenInference's attributes, for viewers that know those: IDs and scores, never text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff import Ids, kinds

CHAIN: Final = "CHAIN"
_RETRIEVER: Final = "RETRIEVER"
_RERANKER: Final = "RERANKER"

_MOST: Final = 80
"""Attributes of documents on one span. The SDK keeps 128 by default, and ours have to be among them."""


def openinference(kind: str, fields: Mapping[str, Any]) -> dict[str, str | float]:
    """Return a stage's documents in OpenInference's flattened form, the best ones where there are many.

    Args:
        kind: The stage's kind. A reranker also has what it was handed; a reader is a chain, without documents.
        fields: Fields of the stage's record.
    """
    if kind == kinds.READER:
        return {semconv.OPENINFERENCE_SPAN_KIND: CHAIN}
    returned = fields.get("returned")
    if kind != kinds.RERANK:
        found = _documents(semconv.OPENINFERENCE_DOCUMENTS, returned, fields.get("scores"), most=_MOST)
        return {semconv.OPENINFERENCE_SPAN_KIND: _RETRIEVER, **found}
    found = _documents(semconv.OPENINFERENCE_RERANKER_OUTPUT, returned, fields.get("scores"), most=_MOST // 2)
    found |= _documents(semconv.OPENINFERENCE_RERANKER_INPUT, fields.get("input"), None, most=_MOST // 2)
    return {semconv.OPENINFERENCE_SPAN_KIND: _RERANKER, **found}


def _documents(name: str, ids: Ids | None, scores: tuple[float, ...] | None, *, most: int) -> dict[str, str | float]:
    found: dict[str, str | float] = {}
    aligned = scores if scores is not None and ids is not None and len(scores) == len(ids) else None
    for place, raw in enumerate(ids or ()):
        if len(found) + (1 if aligned is None else 2) > most:
            break
        found[f"{name}.{place}.{semconv.OPENINFERENCE_DOCUMENT_ID}"] = raw
        if aligned is not None:
            found[f"{name}.{place}.{semconv.OPENINFERENCE_DOCUMENT_SCORE}"] = aligned[place]
    return found
