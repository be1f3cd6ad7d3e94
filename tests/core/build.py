"""Handoffs for the tests of the core, written as short as they are thought of.

Lists of IDs are words: ``"a b"`` is two IDs, ``""`` an empty list, ``"a - b"`` has an unreadable document in the
middle (the empty ID), and None is a list that is missing or unreadable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rop_otel.core.handoff import Assessment, Finding, HandoffRecord, StageRecord, assess
from rop_otel.core.profile import Resolver

UNTIMED = -1
END = 1_000_000
DECISIONS = {"handoff_id": "h", "name": "qa"}

CHUNKS = Resolver({"doc": ["doc#0", "doc#1"], "other": ["other#0"], "a": ["a"]}, aliases={"doc": ["Doc"]})
"""Two documents with their chunks, and one that is its own only chunk."""


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text; a dash is the empty string."""
    return tuple("" if word == "-" else word for word in text.split())


def stage(
    kind: str,
    returned: str | None = "",
    *,
    given: str | None = None,
    count: int | None = None,
    labels: str | None = None,
    at: int | None = None,
    **facts: Any,
) -> StageRecord:
    """Return a stage that was handed and returned these words; without ``at`` it ends in its place in the record."""
    return StageRecord(
        kind=kind,
        returned=None if returned is None else words(returned),
        returned_count=count,
        input=None if given is None else words(given),
        labels=None if labels is None else words(labels),
        end_ns=facts.pop("end_ns", UNTIMED if at is None else at),
        start_ns=facts.pop("start_ns", UNTIMED if at is None else at - 1),
        span_id=facts.pop("span_id", ""),
        **facts,
    )


def handoff(*stages: StageRecord, selected: str | None = "a", judged: str | None = None, **facts: Any) -> HandoffRecord:
    """Return a handoff of these stages, each ending after the one before it."""
    placed = []
    for place, each in enumerate(stages, 1):
        if each.end_ns == UNTIMED:
            each = replace(each, start_ns=place * 10 - 5, end_ns=place * 10)
        placed.append(each if each.span_id else replace(each, span_id=f"{place:016x}"))
    return HandoffRecord(
        **{
            **DECISIONS,
            "selected": None if selected is None else words(selected),
            "judged": None if judged is None else words(judged),
            "stages": tuple(placed),
            "start_ns": 0,
            "end_ns": END,
            **facts,
        }
    )


def judge(*stages: StageRecord, resolver: Resolver | None = None, **facts: Any) -> Assessment:
    """Return the assessment of a handoff of these stages."""
    return assess(handoff(*stages, **facts), resolver=resolver)


def found(assessment: Assessment, code: str) -> list[Finding]:
    """Return the findings of one code."""
    return [finding for finding in assessment.findings if finding.code == code]


def the(assessment: Assessment, code: str) -> Finding:
    """Return the only finding of one code."""
    (finding,) = found(assessment, code)
    return finding


def codes(assessment: Assessment) -> list[tuple[str, str]]:
    """Return the code and stage of each finding, in order."""
    return [(finding.code.value, finding.stage) for finding in assessment.findings]


def kept(assessment: Assessment) -> list[str]:
    """Return the names, else kinds, of the stages that were kept, in order."""
    return [each.name or each.stage for each in assessment.stages]


def fed(*stages: StageRecord, **facts: Any) -> str:
    """Return what feeds the last stage: its input is recorded as empty, so all that it was fed is missing there."""
    *earlier, last = stages
    assessment = judge(*earlier, replace(last, input=(), name="probe"), **facts)
    return " ".join(
        each for finding in found(assessment, "silent_cut") if finding.name == "probe" for each in finding.ids
    )


def lost(*stages: StageRecord, resolver: Resolver | None = None, **facts: Any) -> tuple[str | None, str | None]:
    """Return where and why the selected object was lost."""
    assessment = judge(*stages, resolver=resolver, **facts)
    return assessment.dropped_at, assessment.drop_cause.value if assessment.drop_cause else None
