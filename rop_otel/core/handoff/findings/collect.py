"""All findings of one handoff, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rop_otel.core.handoff.assessment import Finding, FindingCode, Scores
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.findings.context import ContextFinding, about_running, late, not_observed
from rop_otel.core.handoff.findings.labels import Attachment, LabelFinding, about_labels
from rop_otel.core.handoff.findings.lists import ListFinding, about_lists
from rop_otel.core.handoff.findings.ranking import RankingFinding, about_ranking
from rop_otel.core.handoff.trip import Trip

FINDINGS: Final[tuple[FindingCode, ...]] = (*ListFinding, *RankingFinding, *ContextFinding, *LabelFinding)


def find(
    trip: Trip, expected: Expected, *, judged: Sequence[Scores], attachments: Sequence[tuple[int, Attachment]]
) -> tuple[Finding, ...]:
    """Return the findings by stage order, then code.

    Args:
        trip: The handoff.
        expected: The stages that it declares.
        judged: Judged scores of each stage, in order.
        attachments: What labels resolve to in each reader's response.
    """
    placed = [
        *about_lists(trip),
        *about_ranking(trip, judged),
        *about_running(trip),
        *about_labels(trip, attachments),
        *enumerate((*map(late, trip.late), *not_observed(expected)), len(trip.stages)),
    ]
    placed.sort(key=lambda item: (item[0], item[1].code))
    return tuple(finding for _, finding in placed)
