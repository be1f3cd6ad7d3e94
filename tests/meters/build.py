"""Records and assessments for the tests of meters and export, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from rop_otel.core.handoff import RankingFinding
from rop_otel.core.handoff.assessment import (
    Assessment,
    Drop,
    DropCause,
    Finding,
    FindingCode,
    Joint,
    JudgedLoss,
    SourceShown,
    StageScores,
    Verdict,
)
from rop_otel.core.handoff.record import HandoffRecord, StageRecord
from rop_otel.core.profile.run_status import Standing
from rop_otel.core.profile.verdicts import RunStatus

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
START = 1_700_000_000_000_000_000


def runs() -> list[Standing]:
    """Return one run that failed."""
    return [Standing(run_id="nightly", status=RunStatus.RUN_FAIL, records={"PASS": 3, "FAIL": 1, "MISSING": 0})]


def stage(kind: str, *ids: str, millis: int = 3, **facts: object) -> StageRecord:
    """Return a stage that returned these IDs."""
    end = facts.pop("end_ns", START + millis * 1_000_000)
    return StageRecord(kind=kind, returned=ids, span_id="0" * 16, start_ns=START, end_ns=end, **facts)  # type: ignore[arg-type]


def handoff(name: str = "qa", *stages: StageRecord, **facts: object) -> HandoffRecord:
    """Return a handoff with these stages, in which d1 was selected and judged."""
    return HandoffRecord(
        name=name,
        handoff_id="h1",
        trace_id=TRACE,
        span_id=SPAN,
        stages=stages,
        start_ns=START,
        end_ns=START + 5_000_000,
        **{"selected": ("d1",), "judged": ("d1",), **facts},  # type: ignore[arg-type]
    )


def assessment(verdict: Verdict | None = Verdict.PASS, *, name: str = "qa", **facts: object) -> Assessment:
    """Return an assessment that says just this."""
    return Assessment(handoff_name=name, verdict=verdict, **{"mode": "hard", **facts})  # type: ignore[arg-type]


def full() -> Assessment:
    """Return an assessment that says something of everything."""
    return assessment(
        joint=Joint.BOTH,
        agreement=True,
        judged_losses=(JudgedLoss(id="d2", drop=Drop(cause=DropCause.DIVERSIFIED_AWAY, stage="mmr")),),
        findings=(finding(),),
        stages=(scored("packing", {"rr": 1.0}, present=True),),
        sources=(SourceShown(stage="vector", shown=1, only=1),),
    )


def failed(stage_kind: str | None = "mmr", cause: DropCause = DropCause.DIVERSIFIED_AWAY) -> Assessment:
    """Return a FAIL that was lost there."""
    return assessment(Verdict.FAIL, drop=Drop(cause=cause, stage=stage_kind))


def finding(code: FindingCode = RankingFinding.TOP_RANKED_CUT, stage_kind: str = "packing") -> Finding:
    """Return a finding."""
    return Finding(code=code, severity=code.severity, stage=stage_kind, ids=("d1",), message="something is wrong")


def scored(
    kind: str,
    selected: Mapping[str, float] | None = None,
    judged: Mapping[str, float] | None = None,
    **facts: object,
) -> StageScores:
    """Return the scores of one stage."""
    return StageScores(stage=kind, returned=1, selected=selected or {}, judged=judged or {}, **facts)  # type: ignore[arg-type]
