"""What looks wrong with how a handoff is watched."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from rop_otel.core.checkup import SymptomCode, symptoms, watched
from rop_otel.core.handoff import HandoffRecord, StageRecord, Verdict, assess
from rop_otel.core.profile import Resolver
from tests.core.strategies import handoffs

RANDOM = tuple(str(uuid.UUID(int=number, version=4)) for number in range(1, 4))


def stage(kind: str, *ids: str, at: int = 1, **facts: Any) -> StageRecord:
    """Return a stage that ended at a time."""
    return StageRecord(kind=kind, returned=ids, span_id=f"{at}", start_ns=at - 1, end_ns=at, **facts)


def record(*stages: StageRecord, selected: tuple[str, ...] | None = ("a",), **facts: Any) -> HandoffRecord:
    """Return a handoff."""
    return HandoffRecord(name="qa", handoff_id="h", selected=selected, stages=stages, start_ns=0, end_ns=100, **facts)


def codes(handoff: HandoffRecord, resolver: Resolver | None = None) -> list[str]:
    """Return what looks wrong with a handoff."""
    return [each.code.value for each in symptoms(handoff, assess(handoff, resolver=resolver))]


PACKED = stage("packing", "a", at=5)


@pytest.mark.parametrize(
    ("handoff", "expected"),
    [
        (record(stage("vector", "a", "b"), PACKED), []),
        (record(), ["no_stage"]),
        (record(stage("reader", "a")), ["no_stage"]),
        (record(stage("vector", "a"), PACKED, selected=None), ["never_selected"]),
        (record(stage("vector", "a"), PACKED, selected=()), ["empty_selection"]),
        (record(stage("vector", "a"), PACKED, rule="most"), ["invalid_terms"]),
        (record(stage("vector", "a"), PACKED, resolver_sha256="0" * 64), ["resolver_absent"]),
        (record(stage("vector", "a#1", "a#2"), stage("packing", "a#1", at=5)), ["chunks"]),
        (record(stage("vector", *RANDOM), stage("packing", *RANDOM, at=5)), ["random_ids"]),
        (record(stage("vector", *RANDOM), stage("packing", *RANDOM[1:], at=5), selected=(RANDOM[0],)), []),
        (record(stage("vector", "ab"), stage("packing", "ab", at=5)), []),
        (record(replace(stage("vector"), returned=None), PACKED), ["unreadable"]),
        (record(stage("vector", "a"), replace(PACKED, basis="unseen")), ["not_in_prompt"]),
        (record(stage("vector", "a"), replace(PACKED, basis="assumed")), ["assumed"]),
        (record(stage("vector", "b"), stage("packing", "b", at=5, returned_count=9)), ["cut"]),
        (record(stage("vector", "a"), replace(PACKED, failed=True)), ["failed_packing"]),
        (record(stage("vector", "a"), replace(PACKED, end_ns=101)), ["failed_packing"]),
        (record(stage("vector", "a")), ["no_packing"]),
        (record(stage("vector", "a"), stage("rescue", "a", at=5)), ["rescue_alone"]),
        (record(stage("reader", "a", at=2), stage("vector", "a"), PACKED), ["reader_first"]),
        (record(stage("vector", "a"), PACKED, stage("reader", "a", at=6, citations=("1", "2"))), ["unread_labels"]),
    ],
)
def test_each_symptom(handoff: HandoffRecord, expected: list[str]) -> None:
    """Each kind of fault is found by itself, and what is right has none."""
    assert codes(handoff) == expected


def test_a_selection_that_the_resolver_does_not_know() -> None:
    """It is named, with what to change."""
    handoff = record(stage("vector", "b"), stage("packing", "b", at=5))
    resolver = Resolver.parse(b'{"resolver_version": "1", "objects": {"b": {"members": ["b"]}}}')
    assert codes(handoff, resolver) == ["unknown_selection"]


@given(handoffs())
def test_laws(handoff: HandoffRecord) -> None:
    """Whatever was recorded, each symptom is found once, the grave ones first; a handoff without a stage has one."""
    found = symptoms(handoff, assess(handoff))
    assert len({each.code for each in found}) == len(found)
    grave = [each.code.grave for each in found]
    assert grave == sorted(grave, reverse=True)
    if not handoff.stages:
        assert SymptomCode.NO_STAGE in [each.code for each in found]
    assert str(watched(handoff))


@given(handoffs())
def test_a_selector_error_is_never_silent(handoff: HandoffRecord) -> None:
    """What keeps a selection from being judged is a symptom."""
    if assess(handoff).verdict is Verdict.SELECTOR_ERROR:
        assert "empty_selection" in codes(handoff)
