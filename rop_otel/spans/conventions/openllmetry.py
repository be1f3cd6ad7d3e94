"""OpenLLMetry: searches of vector databases with an event for each result, and rerankers, whose documents have no ID.

A reranker's span holds the texts that it was handed and the place of each result among them: no ID, so that its lists
are unreadable.
"""

from __future__ import annotations

from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.kinds import RERANK, VECTOR
from rop_otel.spans.conventions.table import Convention, StageForm

_SEARCH: Final = StageForm(kind=VECTOR, returned=(semconv.GEN_AI_RETRIEVAL_DOCUMENTS,))

OPENLLMETRY: Final = Convention(
    markers=(semconv.GEN_AI_OPERATION, semconv.OPENLLMETRY_REQUEST_TYPE, semconv.OPENLLMETRY_DATABASE),
    stages={"vector_db_retrieve": _SEARCH, "rerank": StageForm(kind=RERANK)},
    events=(semconv.OPENLLMETRY_QUERY_RESULT, semconv.OPENLLMETRY_SEARCH_RESULT),
    event_stage=_SEARCH,
)
