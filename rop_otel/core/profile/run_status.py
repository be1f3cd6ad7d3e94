"""The counts and status of a run while it goes on."""

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
    """The counts and status of a run now.

    Args:
        run_id: The run.
        status: The status that its report would have now.
        records: Every verdict of the report and ``MISSING`` to its count; also handoffs ``STARTED`` and ``FINISHED``
            (assessed), record IDs ``REPEATED`` and ``UNEXPECTED``, and ``MALFORMED`` observations.
    """

    run_id: str
    status: RunStatus
    records: Mapping[str, int]
