"""One assessed handoff as JSON, as every report and the page give it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rop_otel.core.handoff.assessment import Assessment
from rop_otel.core.handoff.record import HandoffRecord, Ids
from rop_otel.core.handoff.stage_lists import StageLists


def handoff_as_dict(
    assessment: Assessment, record: HandoffRecord, lists: Sequence[StageLists], *, with_ids: bool
) -> dict[str, Any]:
    """Return an assessment in the JSON shape of the contract, with what was selected and judged, and what was dropped.

    Args:
        assessment: What was concluded.
        record: What from.
        lists: Of each stage of the assessment.
        with_ids: Whether to give the IDs of each stage's list, too.
    """
    handoff = assessment.as_dict()
    handoff["selected"], handoff["judged"] = as_list(record.selected), as_list(record.judged)
    for stage, listed in zip(handoff["stages"], lists, strict=True):
        stage["dropped"] = as_list(listed.dropped)
        if with_ids:
            stage["ids"] = as_list(listed.returned)
    return handoff


def as_list(ids: Ids | None) -> list[str] | None:
    """Return IDs as JSON has them; None where they are not known."""
    return None if ids is None else list(ids)
