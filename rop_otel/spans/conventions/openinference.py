"""OpenInference: retriever and reranker spans, whose documents are flattened, one JSON string, or structured."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff.kinds import RERANK
from rop_otel.spans.conventions.table import RETRIEVER, Convention, StageForm

OPENINFERENCE: Final = Convention(
    markers=("openinference.span.kind",),
    stages={
        "retriever": StageForm(kind=RETRIEVER, source=True, returned=("retrieval.documents",)),
        "reranker": StageForm(
            kind=RERANK,
            returned=("reranker.output_documents",),
            handed=("reranker.input_documents",),
            implementation="reranker.model_name",
        ),
    },
)
