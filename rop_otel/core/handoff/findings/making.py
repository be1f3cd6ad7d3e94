"""How a finding is made."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rop_otel.core.escapes import LONGEST_READ
from rop_otel.core.handoff.assessment import Finding, FindingCode, Severity
from rop_otel.core.handoff.record import StageRecord

NAMED_IN_MESSAGE = 5


def finding_at(
    stage: StageRecord,
    code: FindingCode,
    *,
    ids: Collection[str] = (),
    labels: Collection[str] = (),
    severity: Severity | None = None,
    **values: object,
) -> Finding:
    """Return a finding at a stage, its IDs and labels sorted; its message names all values."""
    return Finding(
        code=code,
        severity=severity or code.severity,
        stage=stage.kind,
        name=stage.name,
        round=stage.round,
        ids=tuple(sorted(ids)),
        labels=tuple(sorted(labels)),
        message=code.message.format(stage=stage.kind, ids=quoted(ids), labels=quoted(labels), **values),
        span_id=stage.span_id,
    )


def quoted(values: Iterable[str]) -> str:
    """Return values as words for a message: the first few quoted, then how many more.

    >>> quoted(["b", "a"])
    "'a', 'b'"
    """
    ordered = sorted(values)
    words = ", ".join(map(named, ordered[:NAMED_IN_MESSAGE]))
    more = len(ordered) - NAMED_IN_MESSAGE
    return f"{words} and {more} more" if more > 0 else words


def named(value: str) -> str:
    """Return a value as a message shows it: quoted, and cut where it is very long."""
    return repr(value) if len(value) <= LONGEST_READ else f"{value[:LONGEST_READ]!r}…"
