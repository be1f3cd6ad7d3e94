"""The live handoff: facts, the checks over them, and what they conclude."""

from rop_otel.core.handoff.assess import assess
from rop_otel.core.handoff.assessment import (
    Assessment,
    CitationCounts,
    Drop,
    DropCause,
    Finding,
    FindingCode,
    Severity,
    Shown,
    StageScores,
    Verdict,
)
from rop_otel.core.handoff.findings import FINDINGS, ContextFinding, LabelFinding, ListFinding, RankingFinding
from rop_otel.core.handoff.record import HandoffRecord, Ids, StageRecord
from rop_otel.core.handoff.sink import Notice, Sink

__all__ = [
    "FINDINGS",
    "Assessment",
    "CitationCounts",
    "ContextFinding",
    "Drop",
    "DropCause",
    "Finding",
    "FindingCode",
    "HandoffRecord",
    "Ids",
    "LabelFinding",
    "ListFinding",
    "Notice",
    "RankingFinding",
    "Severity",
    "Shown",
    "Sink",
    "StageRecord",
    "StageScores",
    "Verdict",
    "assess",
]
