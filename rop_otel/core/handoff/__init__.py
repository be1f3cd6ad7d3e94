"""The live handoff: its facts, the checks over them, and the resulting assessment."""

from rop_otel.core.handoff.assess import assess
from rop_otel.core.handoff.assessment import (
    Assessment,
    Basis,
    CitationCounts,
    Drop,
    DropCause,
    Finding,
    FindingCode,
    Joint,
    JudgedLoss,
    Severity,
    Shown,
    SourceShown,
    StageScores,
    Verdict,
)
from rop_otel.core.handoff.findings import (
    FINDINGS,
    ContextFinding,
    LabelFinding,
    ListFinding,
    PassageFinding,
    RankingFinding,
)
from rop_otel.core.handoff.record import HandoffRecord, Ids, StageRecord
from rop_otel.core.handoff.sink import Notice, Sink

__all__ = [
    "FINDINGS",
    "Assessment",
    "Basis",
    "CitationCounts",
    "ContextFinding",
    "Drop",
    "DropCause",
    "Finding",
    "FindingCode",
    "HandoffRecord",
    "Ids",
    "Joint",
    "JudgedLoss",
    "LabelFinding",
    "ListFinding",
    "Notice",
    "PassageFinding",
    "RankingFinding",
    "Severity",
    "Shown",
    "Sink",
    "SourceShown",
    "StageRecord",
    "StageScores",
    "Verdict",
    "assess",
]
