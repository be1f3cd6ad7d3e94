"""Span attributes read as facts, and conclusions written as attributes: the one translation that every door shares.

Attributes set by hand come in all shapes, so reading is tolerant where the meaning is plain (an ID that is a number is
its ``str()``) and otherwise keeps what makes the checks say so (an unreadable list is ``ids_unreadable``, a mode of the
wrong type is ``DECLARATION_INVALID``). Nothing here raises, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.assessment import Assessment
from rop_otel.core.handoff.record import HandoffRecord, Ids, StageRecord

Attributes = Mapping[str, object]
"""Attribute name to value: tuples in process, lists when read from a file."""

_LONGEST_NUMBER: Final = 1000
"""Bits of the longest integer that is written as text or read as a float; Python refuses far longer ones."""

_LONGEST_COUNT: Final = 63
"""Bits of the longest count or rank, which is what the wire has room for."""


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
    return _text(attributes.get(semconv.HANDOFF_ID))


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
    get = attributes.get
    returned = _ids(get(semconv.RETURNED_IDS))
    handed = _ids(get(semconv.INPUT_IDS))
    return StageRecord(
        kind=_text(get(semconv.STAGE)) or "",
        name=_text(get(semconv.STAGE_NAME)),
        source=get(semconv.STAGE_SOURCE) is True,
        fed_by=_names(get(semconv.STAGE_FED_BY)),
        round=_round(get(semconv.ROUND)),
        returned=returned,
        returned_count=_count(get(semconv.RETURNED_COUNT), returned, dropped_attributes),
        input=handed,
        input_count=_count(get(semconv.INPUT_COUNT), handed, dropped_attributes),
        scores=_floats(get(semconv.RETURNED_SCORES)),
        scopes=_texts(get(semconv.RETURNED_SCOPES)),
        implementation=_text(get(semconv.STAGE_IMPLEMENTATION)),
        fallback=get(semconv.STAGE_FALLBACK) is True,
        query_form=_text(get(semconv.QUERY_FORM)),
        labels=_texts(get(semconv.CONTEXT_LABELS)),
        id_tokens=_ints(get(semconv.CONTEXT_ID_TOKENS)),
        shares=_floats(get(semconv.CONTEXT_SHARES)),
        basis=_text(get(semconv.CONTEXT_BASIS)),
        tokens=_int(get(semconv.CONTEXT_TOKENS)),
        token_budget=_int(get(semconv.CONTEXT_TOKEN_BUDGET)),
        citations=_texts(get(semconv.ANSWER_CITATIONS)),
        attaches=_text(get(semconv.ANSWER_ATTACHES)),
        abstained=_bool(get(semconv.ANSWER_ABSTAINED)),
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        start_ns=start_ns,
        end_ns=end_ns,
        failed=failed,
        foreign=get(semconv.STAGE_FOREIGN) is True,
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
    get = attributes.get
    return HandoffRecord(
        name=_text(get(semconv.HANDOFF_NAME)) or "",
        handoff_id=handoff_id(attributes, trace_id=trace_id, span_id=span_id),
        trace_id=trace_id,
        span_id=span_id,
        record_id=_text(get(semconv.RECORD_ID)),
        run_id=_text(get(semconv.RUN_ID)),
        declaration_id=_text(get(semconv.DECLARATION_ID)),
        declaration_sha256=_text(get(semconv.DECLARATION_SHA256)),
        resolver_sha256=_text(get(semconv.RESOLVER_SHA256)),
        mode=_choice(get(semconv.MODE)),
        selected=_selected(get(semconv.SELECTED_IDS)),
        need=_choice(get(semconv.SELECTED_NEED)),
        rule=_choice(get(semconv.RULE)),
        cutoff=_cutoff(get(semconv.CUTOFF)),
        judged=_texts(get(semconv.JUDGED_IDS)),
        grades=_grades(get(semconv.JUDGED_GRADES)),
        scope_id=_text(get(semconv.SCOPE_ID)),
        expected=_names(get(semconv.EXPECTED_STAGES)),
        starved_ratio=_float(get(semconv.STARVED_RATIO)),
        min_tokens=_int(get(semconv.MIN_TOKENS)),
        label_scope=_text(get(semconv.LABEL_SCOPE)),
        stages=tuple(stages),
        failed=failed,
        start_ns=start_ns,
        end_ns=end_ns,
    )


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


def _text(value: object) -> str | None:
    """Return a string, or a number as one; None for anything else, and for an empty string."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return None
    return str(value) if isinstance(value, int | float) else None


def _array(value: object) -> list[object] | tuple[object, ...] | None:
    return value if isinstance(value, list | tuple) else None


def _ids(value: object) -> Ids | None:
    items = _array(value)
    if items is None:
        return None
    return tuple([item if type(item) is str else _text(item) or "" for item in items])


def _texts(value: object) -> tuple[str, ...] | None:
    """Return an array of texts; a text alone is an array of one."""
    if _array(value) is not None:
        return _ids(value)
    alone = _text(value)
    return None if alone is None else (alone,)


def _names(value: object) -> tuple[str, ...]:
    return tuple(name for name in _texts(value) or () if name)


def _selected(value: object) -> Ids | None:
    if value is None:
        return None
    items = _array(value)
    return tuple(item if isinstance(item, str) else "" for item in ((value,) if items is None else items))


def _choice(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else ""


def _int(value: object) -> int | None:
    """Return an integer of 64 bits, or a float that is one; None for anything else, truth values included."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > _LONGEST_COUNT:
        return None
    return value


def _ints(value: object) -> tuple[int, ...] | None:
    items = _array(value)
    if items is None:
        return None
    numbers = [number for item in items if (number := _int(item)) is not None]
    return tuple(numbers) if len(numbers) == len(items) else None


def _float(value: object) -> float | None:
    """Return a number; also one written as text, which is what older SDKs make of a numpy scalar."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _floats(value: object) -> tuple[float, ...] | None:
    """Return an array of numbers; None where one is missing, since the rest would no longer be aligned."""
    items = _array(value)
    if items is None:
        return None
    numbers = [number for item in items if (number := item if type(item) is float else _float(item)) is not None]
    return tuple(numbers) if len(numbers) == len(items) else None


def _count(value: object, ids: Ids | None, dropped_attributes: int) -> int | None:
    """Return the true length of a list that was cut; None where it was not, or where the count cannot be true."""
    if ids is None:
        return None
    count = _int(value)
    if count is None and dropped_attributes > 0:
        return len(ids) + 1
    return count if count is not None and count > len(ids) else None


def _round(value: object) -> int | None:
    number = _int(value)
    return number if number is not None and number >= 1 else None


def _cutoff(value: object) -> int | None:
    if value is None:
        return None
    number = _int(value)
    return 0 if number is None else number


def _grades(value: object) -> tuple[int, ...]:
    return tuple(1 if (grade := _int(item)) is None else grade for item in _array(value) or ())
