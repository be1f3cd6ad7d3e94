"""OpenTelemetry's GenAI convention: the ``retrieval`` span, whose documents are an attribute of it or of an event."""

from __future__ import annotations

from typing import Final

from rop_otel import semconv
from rop_otel.spans.conventions.table import RETRIEVER, Convention, StageForm

GENAI: Final = Convention(
    markers=(semconv.GEN_AI_OPERATION,),
    stages={
        semconv.GEN_AI_OPERATION_RETRIEVAL: StageForm(
            kind=RETRIEVER, source=True, returned=(semconv.GEN_AI_RETRIEVAL_DOCUMENTS,)
        ),
    },
)
