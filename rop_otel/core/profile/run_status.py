"""How a run stands while it goes on, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rop_otel.core.profile.verdicts import RunStatus

STARTED: Final = "STARTED"
FINISHED: Final = "FINISHED"
REPEATED: Final = "REPEATED"
UNEXPECTED: Final = "UNEXPECTED"
MALFORMED: Final = "MALFORMED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run as it stands.

    Args:
        run_id: The run.
        status: What its report would say now.
        records: Every verdict of the report and ``MISSING`` to its count, then what else is counted: handoffs
            ``STARTED`` and ``FINISHED`` (judged), record IDs ``REPEATED`` and ``UNEXPECTED``, ``MALFORMED``
            observations.
    """

    run_id: str
    status: RunStatus
    records: Mapping[str, int]
