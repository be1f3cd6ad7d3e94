"""What is wrong, or worth a look, in one handoff; one file per family of findings."""

from rop_otel.core.handoff.findings.collect import FINDINGS, find
from rop_otel.core.handoff.findings.context import ContextFinding
from rop_otel.core.handoff.findings.labels import LabelFinding
from rop_otel.core.handoff.findings.lists import ListFinding
from rop_otel.core.handoff.findings.passages import PassageFinding
from rop_otel.core.handoff.findings.ranking import RankingFinding

__all__ = ["FINDINGS", "ContextFinding", "LabelFinding", "ListFinding", "PassageFinding", "RankingFinding", "find"]
