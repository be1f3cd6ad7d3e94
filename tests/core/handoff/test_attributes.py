"""Attributes of all shapes, read as facts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.handoff.attributes import (
    handoff_id,
    handoff_record,
    is_handoff,
    is_stage,
    named_handoff_id,
    stage_record,
)


def stage(attributes: Mapping[str, object], **more: Any) -> StageRecord:
    record = stage_record(
        {semconv.STAGE: "vector", **attributes},
        **{
            "trace_id": "t",
            "span_id": "s",
            "parent_id": None,
            "start_ns": 1,
            "end_ns": 2,
            "failed": False,
            **more,
        },
    )
    assert record is not None
    return record


def handoff(attributes: Mapping[str, object]) -> HandoffRecord:
    return handoff_record({semconv.HANDOFF_NAME: "qa", **attributes}, trace_id="t", span_id="s", start_ns=1, end_ns=2)


def test_a_span_with_both_is_a_stage() -> None:
    """A handoff span has a handoff's name and no stage."""
    assert is_handoff({semconv.HANDOFF_NAME: "qa"})
    both = {semconv.HANDOFF_NAME: "qa", semconv.STAGE: "vector"}
    assert is_stage(both)
    assert not is_handoff(both)


def test_other_spans_are_no_stage() -> None:
    """A span without a stage's kind gives no record."""
    assert (
        stage_record(
            {"http.method": "GET"}, trace_id="t", span_id="s", parent_id=None, start_ns=1, end_ns=2, failed=False
        )
        is None
    )


def test_a_whole_stage() -> None:
    """Every attribute of a stage has its field."""
    record = stage(
        {
            semconv.STAGE: "packing",
            semconv.STAGE_NAME: "final",
            semconv.STAGE_SOURCE: True,
            semconv.STAGE_FED_BY: ["mmr", "rescue"],
            semconv.ROUND: 2,
            semconv.RETURNED_IDS: ["a", "b"],
            semconv.RETURNED_COUNT: 5,
            semconv.INPUT_IDS: ("c",),
            semconv.INPUT_COUNT: 2,
            semconv.RETURNED_SCORES: [1, 0.5],
            semconv.RETURNED_SCOPES: ["lib", ""],
            semconv.STAGE_IMPLEMENTATION: "cross-encoder",
            semconv.STAGE_FALLBACK: True,
            semconv.QUERY_FORM: "title",
            semconv.CONTEXT_LABELS: ["S1", "S2"],
            semconv.CONTEXT_ID_TOKENS: [10, 0],
            semconv.CONTEXT_TOKENS: 10,
            semconv.CONTEXT_TOKEN_BUDGET: 100,
            semconv.ANSWER_CITATIONS: ["S1", "S1"],
        },
        parent_id="p",
        failed=True,
    )
    assert record == StageRecord(
        kind="packing",
        name="final",
        source=True,
        fed_by=("mmr", "rescue"),
        round=2,
        returned=("a", "b"),
        returned_count=5,
        input=("c",),
        input_count=2,
        scores=(1.0, 0.5),
        scopes=("lib", ""),
        implementation="cross-encoder",
        fallback=True,
        query_form="title",
        labels=("S1", "S2"),
        id_tokens=(10, 0),
        tokens=10,
        token_budget=100,
        citations=("S1", "S1"),
        trace_id="t",
        span_id="s",
        parent_id="p",
        start_ns=1,
        end_ns=2,
        failed=True,
    )


def test_a_whole_handoff() -> None:
    """Every attribute of a handoff has its field."""
    record = handoff(
        {
            semconv.HANDOFF_ID: "h1",
            semconv.RECORD_ID: "r1",
            semconv.RUN_ID: "run",
            semconv.DECLARATION_ID: "decl",
            semconv.DECLARATION_SHA256: "d" * 64,
            semconv.RESOLVER_SHA256: "e" * 64,
            semconv.MODE: "hard",
            semconv.SELECTED_IDS: ["a"],
            semconv.RULE: "all",
            semconv.CUTOFF: 5,
            semconv.JUDGED_IDS: ["a", "b"],
            semconv.JUDGED_GRADES: [2],
            semconv.SCOPE_ID: "lib",
            semconv.EXPECTED_STAGES: ["vector", "packing"],
            semconv.STARVED_RATIO: 0.5,
        }
    )
    assert record == HandoffRecord(
        name="qa",
        handoff_id="h1",
        trace_id="t",
        span_id="s",
        record_id="r1",
        run_id="run",
        declaration_id="decl",
        declaration_sha256="d" * 64,
        resolver_sha256="e" * 64,
        mode="hard",
        selected=("a",),
        rule="all",
        cutoff=5,
        judged=("a", "b"),
        grades=(2,),
        scope_id="lib",
        expected=("vector", "packing"),
        starved_ratio=0.5,
        start_ns=1,
        end_ns=2,
    )


def test_what_is_absent_is_unknown() -> None:
    """Attributes that are not there leave the defaults, which are never a made-up value."""
    assert stage({}) == StageRecord(kind="vector", trace_id="t", span_id="s", start_ns=1, end_ns=2)
    assert handoff({}) == HandoffRecord(name="qa", handoff_id="t-s", trace_id="t", span_id="s", start_ns=1, end_ns=2)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([1, 2.0, True, "a"], ("1", "2.0", "True", "a")),
        (["a", None, {"id": "b"}, ["c"], b"d"], ("a", "", "", "", "")),
        ((), ()),
        ("a", None),
        (7, None),
        ({"a": 1}, None),
        ([10**400], ("",)),
    ],
)
def test_ids(value: object, ids: tuple[str, ...] | None) -> None:
    """Numbers are IDs by their str(); what is none keeps its slot as an empty one; no array is unreadable."""
    assert stage({semconv.RETURNED_IDS: value}).returned == ids


@pytest.mark.parametrize(
    ("count", "kept"), [(3, 3), (3.0, 3), (2, None), (1, None), (-1, None), ("3", None), (True, None), (None, None)]
)
def test_counts(count: object, kept: int | None) -> None:
    """A count says that a list was cut; one that is no integer or not above the recorded length is ignored."""
    assert stage({semconv.RETURNED_IDS: ["a", "b"], semconv.RETURNED_COUNT: count}).returned_count == kept


def test_a_count_without_ids_says_nothing() -> None:
    """A list that was not recorded has no length."""
    assert stage({semconv.RETURNED_COUNT: 3, semconv.INPUT_COUNT: 3}).returned_count is None


def test_dropped_attributes_leave_a_list_without_a_count_open() -> None:
    """Where a span lost attributes, a list without its count may be longer than what is recorded."""
    record = stage(
        {semconv.RETURNED_IDS: ["a"], semconv.INPUT_IDS: ["a"], semconv.INPUT_COUNT: 1}, dropped_attributes=3
    )
    assert (record.returned_count, record.input_count) == (2, None)


@pytest.mark.parametrize(
    ("value", "scores"),
    [
        ([1, 0.5], (1.0, 0.5)),
        (["0.5", "2"], (0.5, 2.0)),
        ([0.5, None], None),
        ([0.5, "high"], None),
        ([True], None),
        ([10**400], None),
        (0.5, None),
    ],
)
def test_scores(value: object, scores: tuple[float, ...] | None) -> None:
    """Numbers, also as the text that older SDKs make of them; with one missing, all are left out."""
    assert stage({semconv.RETURNED_SCORES: value}).scores == scores


def test_nan_scores_are_kept() -> None:
    """A score that is not a number stays in its place."""
    scores = stage({semconv.RETURNED_SCORES: [math.nan, 1.0]}).scores
    assert scores is not None
    assert math.isnan(scores[0])


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1), (2.0, 2), (0, None), (-1, None), (1.5, None), (True, None), ("1", None)]
)
def test_rounds(value: object, number: int | None) -> None:
    """A round is an integer of at least 1; anything else is the whole handoff."""
    assert stage({semconv.ROUND: value}).round == number


@pytest.mark.parametrize(
    ("value", "cutoff"), [(5, 5), (3.0, 3), (0, 0), (-2, -2), (2.5, 0), (True, 0), ("5", 0), ([5], 0)]
)
def test_cutoffs(value: object, cutoff: int) -> None:
    """A cutoff that is no integer stays invalid rather than absent."""
    assert handoff({semconv.CUTOFF: value}).cutoff == cutoff


@pytest.mark.parametrize("value", [7, True, ["hard"], {"mode": "hard"}])
def test_modes_and_rules_of_another_type_stay_invalid(value: object) -> None:
    """A mode or rule that is no string is not the default."""
    record = handoff({semconv.MODE: value, semconv.RULE: value})
    assert (record.mode, record.rule) == ("", "")


@pytest.mark.parametrize(
    ("value", "selected"),
    [(["a", 1, None], ("a", "", "")), ("a", ("a",)), (7, ("",)), ([], ()), (["a", ""], ("a", "")), ({}, ("",))],
)
def test_selections(value: object, selected: tuple[str, ...]) -> None:
    """A selection that is no string stays an unusable one; a bare string is a list of one."""
    assert handoff({semconv.SELECTED_IDS: value}).selected == selected


def test_judged_ids_are_compared_as_strings() -> None:
    """A judged ID that is a number is its str(); one that is none is malformed, in its slot."""
    record = handoff({semconv.JUDGED_IDS: [1, None, "x"], semconv.JUDGED_GRADES: [2, 3.0, None, "high"]})
    assert record.judged == ("1", "", "x")
    assert record.grades == (2, 3, 1, 1)


def test_ids_of_handoffs_that_are_numbers() -> None:
    """IDs that are numbers are their str(), and an empty one is none."""
    record = handoff({semconv.HANDOFF_ID: 12, semconv.RECORD_ID: 3, semconv.RUN_ID: "", semconv.SCOPE_ID: 4.5})
    assert (record.handoff_id, record.record_id, record.run_id, record.scope_id) == ("12", "3", None, "4.5")
    assert named_handoff_id({semconv.HANDOFF_ID: 12}) == "12"
    assert handoff_id({semconv.HANDOFF_ID: ""}, trace_id="t", span_id="s") == "t-s"


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = [value for value in vars(semconv).values() if isinstance(value, str) and value.startswith("rop.")]


@given(st.dictionaries(st.sampled_from(NAMES), ODD))
def test_nothing_raises(attributes: dict[str, object]) -> None:
    """Whatever the values are, reading gives records, and lists read as tuples do."""
    record = handoff(attributes)
    assert all(isinstance(item, str) for item in record.selected or ())
    tuples = {key: tuple(value) if isinstance(value, list) else value for key, value in attributes.items()}
    assert repr(handoff(tuples)) == repr(record)
    assert repr(stage(tuples)) == repr(stage(attributes))


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400, 1e300])
def test_count_that_the_wire_has_no_room_for_is_none(number: float) -> None:
    """A number of more than 64 bits, which no exporter carries and no metric adds up, counts as not given."""
    record = stage_record(
        {semconv.STAGE: "packing", semconv.RETURNED_IDS: ("a",), semconv.CONTEXT_TOKENS: number},
        trace_id="t",
        span_id="s",
        parent_id=None,
        start_ns=0,
        end_ns=1,
        failed=False,
    )
    assert record is not None
    assert record.tokens is None
