"""Twice as much of anything takes about twice as long: no input makes a request, or a replay, stall."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rop_otel.tracing.running.runtime import install
from tests.safety import many_arguments, many_facts, many_spans, many_within
from tests.safety.growth import MOST, Case, growth
from tests.tracing.watched import Watched


@pytest.fixture
def _recording() -> Iterator[None]:
    """Record spans, and of each list as many IDs as there are."""
    before = install(Watched(max_ids=10**6).runtime)
    yield
    install(before)


@pytest.mark.parametrize("case", [*many_facts.CASES, *many_within.CASES], ids=str)
def test_judging_grows_with_what_there_is(case: Case) -> None:
    """A handoff with four times as much of one thing is judged in about four times the time."""
    assert growth(case) <= MOST


@pytest.mark.usefixtures("_recording")
@pytest.mark.parametrize("case", many_arguments.CASES, ids=str)
def test_calls_grow_with_what_they_are_given(case: Case) -> None:
    """A call that is given four times as much takes about four times as long."""
    assert growth(case) <= MOST


@pytest.mark.parametrize("case", many_spans.CASES, ids=str)
def test_replay_grows_with_the_spans(case: Case) -> None:
    """Spans with four times as much of one thing are replayed, or taken in, in about four times the time."""
    assert growth(case) <= MOST


def test_what_grows_faster_is_seen() -> None:
    """Looking for each of a list's elements in the list is found to take far more than four times as long."""
    assert (
        growth(Case("squares", 400, lambda count: lambda: [list(range(count)).index(each) for each in range(count)]))
        > MOST
    )
