"""All findings of one handoff, in order."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from rop_otel.core.handoff.assessment import Finding, FindingCode, Scores
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.findings.about_labels import Attachment, LabelFinding, about_labels
from rop_otel.core.handoff.findings.about_lists import ListFinding, about_lists
from rop_otel.core.handoff.findings.about_passages import PassageFinding, about_passages
from rop_otel.core.handoff.findings.about_ranking import RankingFinding, about_ranking
from rop_otel.core.handoff.findings.about_stages import ContextFinding, about_left_out, about_running, not_observed
from rop_otel.core.handoff.stage_graph import StageGraph

FINDINGS: Final[tuple[FindingCode, ...]] = (
    *ListFinding,
    *RankingFinding,
    *ContextFinding,
    *PassageFinding,
    *LabelFinding,
)

_OF_ONE_STAGE: Final[frozenset[FindingCode]] = frozenset(
    {
        ListFinding.DUPLICATE_IDS,
        ListFinding.SCOPE_LEAK,
        ListFinding.IDS_UNREADABLE,
        ContextFinding.FALLBACK_USED,
        ContextFinding.STAGE_FAILED,
        ContextFinding.STAGE_LATE,
    }
)
"""What a stage says of itself, whatever other stages there were: true of a handoff of which spans are missing, too."""


def find(
    graph: StageGraph,
    expected: Expected,
    *,
    judged: Sequence[Scores],
    attachments: Sequence[tuple[int, Attachment]],
    objects: tuple[AbstractSet[str], AbstractSet[str]],
) -> tuple[Finding, ...]:
    """Return the findings by stage order, then code.

    Args:
        graph: The handoff.
        expected: The stages that it declares.
        judged: Judged scores of each stage, in order.
        attachments: What labels resolve to in each reader's response.
        objects: The selected objects, and the judged ones.
    """
    placed = [
        *about_lists(graph),
        *about_ranking(graph, judged),
        *about_running(graph),
        *about_passages(graph, *objects),
        *about_labels(graph, attachments),
        *about_left_out(graph),
    ]
    placed.sort(key=lambda item: (item[0], item[1].code))
    if graph.record.gaps:
        return tuple(finding for _, finding in placed if finding.code in _OF_ONE_STAGE)
    return (*(finding for _, finding in placed), *not_observed(expected))
