"""Handoffs added up, taken out again, kept and added to others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rop_otel.core.handoff import Assessment, Drop, DropCause, Finding, assess
from rop_otel.core.handoff.assessment import StageScores
from rop_otel.core.handoff.findings import ListFinding
from rop_otel.core.handoff.sums import MOST_KEYS, OTHER, Sums, add_up
from rop_otel.core.handoff.totals import ListTotals, Spot, Totals
from tests.core.strategies import handoffs

CUT = ListFinding.SILENT_CUT
ASSESSED = st.lists(handoffs().map(assess), max_size=3)


def sums_of(assessments: Sequence[Assessment]) -> Sums:
    sums = Sums()
    for each in assessments:
        sums.add(each)
    return sums


def assert_same(found: Totals, expected: Totals) -> None:
    """Raise where totals differ by more than the order in which numbers are added up, or stages first seen, makes."""
    assert dict(found.stages).keys() == dict(expected.stages).keys()
    for one, other in (
        (found.shown, expected.shown),
        *((found.stages[spot], expected.stages[spot]) for spot in found.stages),
    ):
        assert_same_lists(one, other)
    assert replace(found, stages={}, shown=expected.shown) == replace(expected, stages={})


def assert_same_lists(one: ListTotals, other: ListTotals) -> None:
    assert (one.returned, one.selected, one.judged) == (other.returned, other.selected, other.judged)
    assert one.selected_means == pytest.approx(other.selected_means)
    assert one.judged_means == pytest.approx(other.judged_means)


@settings(max_examples=20)
@given(ASSESSED, ASSESSED)
def test_sums_of_parts_are_those_of_the_whole(one: list[Assessment], other: list[Assessment]) -> None:
    """However handoffs are divided, and after their sums were kept as JSON."""
    sums = Sums()
    for part in (one, other):
        sums.merge(Sums.from_list(json.loads(json.dumps(sums_of(part).as_list()))))
    assert_same(sums.totals(), add_up(chain(one, other)))


@settings(max_examples=20)
@given(ASSESSED, ASSESSED)
def test_what_is_taken_out_leaves_nothing(stay: list[Assessment], go: list[Assessment]) -> None:
    """What is left are the sums of those that stay."""
    sums = sums_of([*go, *stay])
    sums.merge(sums_of(go), sign=-1)
    assert_same(sums.totals(), add_up(stay))


@settings(max_examples=20)
@given(ASSESSED)
def test_one_set_is_in_the_same_order(assessments: list[Assessment]) -> None:
    """Sums that were kept have the stages in the order that the handoffs themselves give."""
    kept = Sums.from_list(sums_of(assessments).as_list())
    assert list(kept.totals().stages) == list(add_up(assessments).stages)


def test_names_without_end() -> None:
    """Stages, losses and findings beyond the most that are told apart count as one, and go away as one."""
    whole, parts = Sums(), []
    for number in range(MOST_KEYS + 5):
        name = f"n{number}"
        one = Sums.of(
            Assessment(
                handoff_name="qa",
                drop=Drop(cause=DropCause.SILENT_CUT, stage="vector", name=name),
                stages=(StageScores(stage="vector", name=name, present=True),),
                findings=(Finding(code=CUT, severity=CUT.severity, stage="vector", name=name, message=""),),
            )
        )
        parts.append(one.within(whole))
        whole.merge(parts[-1])
    totals = whole.totals()
    assert totals.handoffs == MOST_KEYS + 5
    assert len(totals.stages) == len(totals.losses) == len(totals.findings) == MOST_KEYS + 1
    assert totals.stages[Spot(OTHER)].selected.of == totals.losses[Spot(OTHER), "silent_cut"] == 5
    for part in parts:
        whole.merge(part, sign=-1)
    assert whole.totals() == Sums().totals()
