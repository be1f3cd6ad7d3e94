"""Reads span attributes as facts, and writes assessments as attributes. Every door uses this translation.

The fields of the records say how each attribute is read. Nothing here raises, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff.assessment import Assessment
from rop_otel.core.handoff.fact import read_facts
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS, HandoffRecord, StageRecord
from rop_otel.core.handoff.values import text

Attributes = Mapping[str, object]
"""Attribute name to value: tuples in process, lists when read from a file."""

_HANDOFF: Final = [(each.attribute, each.field, each.default) for each in HANDOFF_FACTS]
STAGE_ATTRIBUTES: Final = {each.field: each.attribute for each in STAGE_FACTS}
"""Field of a stage's record to its attribute."""


def is_stage(attributes: Attributes) -> bool:
    """Return whether these are the attributes of a stage span."""
    return semconv.STAGE in attributes


def is_handoff(attributes: Attributes) -> bool:
    """Return whether these are the attributes of a handoff span: a handoff's name, and no stage."""
    return semconv.HANDOFF_NAME in attributes and semconv.STAGE not in attributes


def handoff_id(attributes: Attributes, *, trace_id: str, span_id: str) -> str:
    """Return the ID of a handoff span: the one that it names, else ``<trace id>-<span id>``."""
    return named_handoff_id(attributes) or f"{trace_id}-{span_id}"


def named_handoff_id(attributes: Attributes) -> str | None:
    """Return the handoff ID that a span names, None where it names none."""
    return text(attributes.get(semconv.HANDOFF_ID))


def stage_record(
    attributes: Attributes,
    *,
    trace_id: str,
    span_id: str,
    parent_id: str | None,
    start_ns: int,
    end_ns: int | None,
    failed: bool,
    dropped_attributes: int = 0,
) -> StageRecord | None:
    """Read a stage span.

    Args:
        attributes: Of the span.
        trace_id: Of the span, in hex.
        span_id: Of the span, in hex.
        parent_id: Span ID of the nearest enclosing stage of the same handoff.
        start_ns: Unix nanoseconds.
        end_ns: Unix nanoseconds; None where it had not ended when its handoff did.
        failed: Whether its status is ERROR.
        dropped_attributes: How many attributes the span lost to a limit. The count of a list may be among them, so
            a list without a count then counts as cut.

    Returns:
        The stage, or None where this is no stage span. A list of IDs that is no array is unreadable (None).
    """
    if not is_stage(attributes):
        return None
    return StageRecord(
        **read_facts(STAGE_FACTS, attributes, dropped_attributes=dropped_attributes),
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        start_ns=start_ns,
        end_ns=end_ns,
        failed=failed,
    )


def handoff_record(
    attributes: Attributes,
    *,
    trace_id: str,
    span_id: str,
    start_ns: int,
    end_ns: int,
    stages: Iterable[StageRecord] = (),
    failed: bool = False,
) -> HandoffRecord:
    """Read a handoff span, and put the stages that belong to it beside it.

    Args:
        attributes: Of the span; for ones that :func:`is_handoff` accepts.
        trace_id: Of the span, in hex.
        span_id: Of the span, in hex.
        start_ns: Unix nanoseconds.
        end_ns: Unix nanoseconds.
        stages: In any order.
        failed: Whether its status is ERROR.

    Returns:
        The handoff. What the contract calls invalid is kept so that the verdict says so: a mode or rule that is no
        string is the empty string, a cutoff that is no integer is 0, a selected ID that is no string is the empty
        string. A grade that is no integer counts as a missing one, which is 1.
    """
    return HandoffRecord(
        **read_facts(HANDOFF_FACTS, attributes),
        handoff_id=handoff_id(attributes, trace_id=trace_id, span_id=span_id),
        trace_id=trace_id,
        span_id=span_id,
        stages=tuple(stages),
        failed=failed,
        start_ns=start_ns,
        end_ns=end_ns,
    )


def stage_attributes(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return the span attributes of fields of a stage's record.

    Args:
        fields: Names of fields to their values. None of them has its default value, which would be no attribute.
    """
    return {STAGE_ATTRIBUTES[name]: value for name, value in fields.items()}


def handoff_attributes(record: HandoffRecord, **since: object) -> dict[str, Any]:
    """Return the span attributes of a handoff's facts, its ID among them, without facts that have their default.

    Args:
        record: Of the handoff.
        since: Fields that were set since the record was made.
    """
    facts = ((name, since.get(field, getattr(record, field)), default) for name, field, default in _HANDOFF)
    said = {name: value for name, value, default in facts if value != default}
    return {semconv.HANDOFF_ID: record.handoff_id, **said}


def assessment_attributes(assessment: Assessment) -> dict[str, str | int | tuple[str, ...]]:
    """Return the span attributes of an assessment; none for one without a verdict."""
    if assessment.verdict is None:
        return {}
    attributes: dict[str, str | int | tuple[str, ...]] = {
        semconv.VERDICT: assessment.verdict.value,
        semconv.FINDINGS: tuple(dict.fromkeys(finding.code.value for finding in assessment.findings)),
    }
    if assessment.selected_rank is not None:
        attributes[semconv.SELECTED_RANK] = assessment.selected_rank
    if assessment.dropped_at is not None:
        attributes[semconv.DROPPED_AT] = assessment.dropped_at
    if assessment.drop_cause is not None:
        attributes[semconv.DROP_CAUSE] = assessment.drop_cause.value
    return attributes
