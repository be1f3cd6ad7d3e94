"""Findings: what is wrong, or should be checked, in one handoff; one file for each family."""

from rop_otel.core.handoff.findings.about_labels import LabelFinding
from rop_otel.core.handoff.findings.about_lists import ListFinding
from rop_otel.core.handoff.findings.about_passages import PassageFinding
from rop_otel.core.handoff.findings.about_ranking import RankingFinding
from rop_otel.core.handoff.findings.about_stages import ContextFinding
from rop_otel.core.handoff.findings.collect import FINDINGS, find

__all__ = ["FINDINGS", "ContextFinding", "LabelFinding", "ListFinding", "PassageFinding", "RankingFinding", "find"]
