"""OpenInference: retriever and reranker spans, whose documents are flattened, one JSON string, or structured."""

from __future__ import annotations

from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.kinds import RERANK
from rop_otel.spans.conventions.table import RETRIEVER, Convention, StageForm

OPENINFERENCE: Final = Convention(
    markers=(semconv.OPENINFERENCE_SPAN_KIND,),
    stages={
        "retriever": StageForm(kind=RETRIEVER, source=True, returned=(semconv.OPENINFERENCE_DOCUMENTS,)),
        "reranker": StageForm(
            kind=RERANK,
            returned=(semconv.OPENINFERENCE_RERANKER_OUTPUT,),
            handed=(semconv.OPENINFERENCE_RERANKER_INPUT,),
            implementation=semconv.OPENINFERENCE_RERANKER_MODEL,
        ),
    },
)
