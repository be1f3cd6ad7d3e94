"""The law of the table of facts: each row is read and written alike, and reading gives what its field may be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, StageRecord, values
from rop_otel.core.handoff.attributes import handoff_attributes, handoff_record, stage_attributes, stage_record
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from tests.contracts.sources import PACKAGE, parse, python_files

ROWS: Final = [*STAGE_FACTS, *HANDOFF_FACTS]
TEXT = st.text(min_size=1, max_size=5)
TEXTS = st.lists(st.text(max_size=5), max_size=3).map(tuple)
INTEGER = st.integers(-(2**62), 2**62)
NUMBER = st.floats(allow_nan=False)

WRITTEN: Final[Mapping[Callable[[object], object], st.SearchStrategy[Any]]] = {
    values.text: TEXT,
    values.text_or_empty: TEXT,
    values.flag: st.just(True),
    values.truth: st.booleans(),
    values.ids: TEXTS,
    values.texts: TEXTS,
    values.scopes: TEXTS,
    values.selected: TEXTS,
    values.names: st.lists(TEXT, min_size=1, max_size=3).map(tuple),
    values.choice: st.text(max_size=5),
    values.integer: INTEGER,
    values.integers: st.lists(INTEGER, max_size=3).map(tuple),
    values.number: NUMBER,
    values.numbers: st.lists(NUMBER, max_size=3).map(tuple),
    values.round_number: st.integers(1, 9),
    values.cutoff: INTEGER,
    values.grades: st.lists(INTEGER, min_size=1, max_size=3).map(tuple),
}
"""What a fact of each type may be, beside its default."""

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


def told(rows: tuple[Fact, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Return some facts of these rows; a count is that of a list that is longer than it was recorded."""
    plain = {row.field: WRITTEN[row.read] for row in rows if row.counts is None}
    counts = {row.field: (row.counts, st.integers(1, 9)) for row in rows if row.counts is not None}

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        facts = draw(st.fixed_dictionaries({}, optional=plain))
        for name, (of, more) in counts.items():
            if of in facts and draw(st.booleans()):
                facts[name] = len(facts[of]) + draw(more)
        return facts

    return drawn()


@given(told(STAGE_FACTS))
def test_a_stage_is_read_as_it_was_written(facts: dict[str, Any]) -> None:
    """Whatever a stage says comes back from its span, each fact in its place."""
    facts = {"kind": "vector", **facts}
    given: dict[str, Any] = {
        "trace_id": "t",
        "span_id": "s",
        "parent_id": None,
        "start_ns": 1,
        "end_ns": 2,
        "failed": False,
    }
    assert stage_record(stage_attributes(facts), **given) == StageRecord(**facts, **given)


@given(told(HANDOFF_FACTS))
def test_a_handoff_is_read_as_it_was_written(facts: dict[str, Any]) -> None:
    """Whatever is said of a handoff comes back from its span."""
    given: dict[str, Any] = {"trace_id": "t", "span_id": "s", "start_ns": 1, "end_ns": 2}
    record = HandoffRecord(**{"name": "qa", **facts}, handoff_id="h", **given)
    assert handoff_record(handoff_attributes(record), **given) == record


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.attribute)
@given(value=ANYTHING)
def test_reading_gives_what_the_field_may_be(row: Fact, value: object) -> None:
    """Of any attribute value, reading makes a value of the field's type, and never raises."""
    owner = StageRecord if row in STAGE_FACTS else HandoffRecord
    TypeAdapter(get_type_hints(owner)[row.field]).validate_python(row.read(value), strict=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.attribute)
def test_rows_agree_with_themselves(row: Fact) -> None:
    """What is absent reads as the default, a count belongs to a list that is cut, and what is hashed is text."""
    rows = STAGE_FACTS if row in STAGE_FACTS else HANDOFF_FACTS
    assert row.default in (row.read(None), None)
    assert {each.counts for each in rows} - {None} == {each.field for each in rows if each.cut == "counted"}
    assert row.hashed is None or any(row.read(["a"]) or row.read("a") or ())


def test_each_row_has_a_name_of_its_own() -> None:
    """No two facts share an attribute, and each attribute's name is one of the glossary's."""
    names = [row.attribute for row in ROWS]
    assert len(set(names)) == len(names)
    assert set(names) <= {value for value in vars(semconv).values() if isinstance(value, str)}


def test_attributes_of_facts_are_named_in_the_table_only() -> None:
    """What a span says of a fact follows from its row: no other module of the API or the core names the attribute."""
    names = {
        name
        for name, value in vars(semconv).items()
        if isinstance(value, str) and value in {row.attribute for row in ROWS}
    }
    telling = {"STAGE", "HANDOFF_NAME"}  # which spans are ours, before anything is read of them
    found = {
        f"{path.relative_to(PACKAGE)} {node.attr}"
        for folder in ("tracing", "core/handoff")
        for path in python_files(f"rop_otel/{folder}")
        if path.name not in ("record.py", "baggage.py")  # which names its own entry of the baggage
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and node.attr in names - telling and ast.unparse(node.value) == "semconv"
    }
    assert found == set()
