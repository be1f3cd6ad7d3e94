"""Where assessments go: the seam between the ledger that makes them and the meters that count them."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from rop_otel.core.handoff.assessment import Assessment
from rop_otel.core.handoff.record import HandoffRecord


class Notice(StrEnum):
    """An event about the monitor itself."""

    EXPIRED = "expired"
    REJECTED = "rejected"
    REFUSED = "refused"
    LATE = "late"
    UNSENT = "unsent"
    ERROR = "error"


class Sink(Protocol):
    """Takes assessments and notices. It must be thread-safe and quick. An exception is counted and goes no further."""

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Take one assessed handoff and the time in seconds that assessing it took."""

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Take one notice; ``where`` names the place of an error, from a small closed set."""
