"""One assessed handoff in the form in which it is kept."""

from __future__ import annotations

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.monitor.store import StoredHandoff

_LATEST_NS = 2**63 - 1
"""The latest time that a store has room for."""


def stored_handoff(record: HandoffRecord, assessment: Assessment, *, service: str | None) -> StoredHandoff:
    """Return an assessed handoff as it is kept.

    Args:
        record: The facts.
        assessment: What they amount to.
        service: The service of the handoff's span; None where it has none.
    """
    drop = assessment.drop
    return StoredHandoff(
        handoff_id=record.handoff_id,
        trace_id=record.trace_id,
        name=record.name,
        service=service,
        record_id=record.record_id,
        run_id=record.run_id,
        verdict="" if assessment.verdict is None else assessment.verdict.value,
        dropped_at=None if drop is None else drop.stage,
        dropped_at_name=None if drop is None else drop.name,
        drop_cause=None if drop is None else drop.cause.value,
        findings=tuple((each.code.value, each.stage) for each in assessment.findings),
        start_ns=min(record.start_ns, _LATEST_NS),
        duration_ns=min(max(record.end_ns - record.start_ns, 0), _LATEST_NS),
        assessment=assessment.as_dict(),
    )
