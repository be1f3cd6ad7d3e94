from __future__ import annotations

import gc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rop_otel as rop
from rop_otel.core.handoff import Notice, StageRecord
from rop_otel.tracing.running.ledger import Ledger
from tests.tracing.watched import Watched


class Clock:
    """Time that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Open:
    """A ledger, its clock, and what it was heard to say."""

    def __init__(self, *, max_open: int = 2, ttl: float = 10.0) -> None:
        self.clock = Clock()
        self.notices: Counter[Notice] = Counter()
        self.ledger = Ledger(max_open=max_open, ttl_seconds=ttl, notify=self._hear, clock=self.clock)

    def _hear(self, notice: Notice) -> None:
        self.notices[notice] += 1


def stage(span_id: str = "1", end_ns: int | None = 2) -> StageRecord:
    return StageRecord(kind="vector", span_id=span_id, start_ns=1, end_ns=end_ns)


class Running:
    """A stage that runs."""

    def unfinished(self) -> StageRecord:
        return stage("running", None)


def test_stages_are_kept_until_the_handoff_is_closed() -> None:
    """Closing gives all stages, those that still run without an end, and forgets the handoff."""
    ledger = Open().ledger
    opened = ledger.open("h")
    assert opened is not None
    running, ended = Running(), Running()
    opened.began(running)
    opened.began(ended)
    assert opened.ended(stage(), ended)
    assert ledger.find("h") is opened
    assert ledger.close(opened) == (stage(), stage("running", None))
    assert ledger.find("h") is None
    assert ledger.close(opened) is None
    assert not opened.ended(stage(), running)


def test_too_many_open_handoffs_are_rejected() -> None:
    """Beyond the limit a handoff is not taken in, until another one ends."""
    case = Open(max_open=2)
    first = case.ledger.open("a")
    case.ledger.open("b")
    assert first is not None
    assert case.ledger.open("c") is None
    assert case.notices == {Notice.REJECTED: 1}
    case.ledger.close(first)
    assert case.ledger.open("c") is not None
    assert case.ledger.open_count() == 2


def test_id_that_is_open_already_is_rejected() -> None:
    """Two open handoffs cannot share an ID, or their stages would mix."""
    case = Open()
    case.ledger.open("a")
    assert case.ledger.open("a") is None
    assert case.notices == {Notice.REJECTED: 1}


def test_handoff_that_never_ends_expires() -> None:
    """After its time a handoff is dropped and said to be; closing it then gives nothing."""
    case = Open(ttl=10.0)
    old = case.ledger.open("old")
    assert old is not None
    case.clock.now = 9.0
    young = case.ledger.open("young")
    assert young is not None
    case.clock.now = 10.0
    assert case.ledger.open_count() == 1
    assert case.notices == {Notice.EXPIRED: 1}
    assert case.ledger.close(old) is None
    assert not old.ended(stage())
    assert case.ledger.close(young) == ()


def test_abandoned_handoff_makes_room_at_once() -> None:
    """A handoff that nobody can close any more does not wait for its time."""
    case = Open(max_open=1)
    opened = case.ledger.open("a")
    assert opened is not None
    case.ledger.abandon(opened)
    assert case.ledger.open("b") is not None
    assert case.notices == {Notice.EXPIRED: 1}


@given(st.lists(st.tuples(st.sampled_from(["open", "close", "wait"]), st.integers(0, 3)), max_size=30))
def test_every_handoff_is_accounted_for(steps: list[tuple[str, int]]) -> None:
    """Whatever happens in whatever order: opened = open + closed + expired, and never more than the limit are open."""
    case = Open(max_open=2, ttl=3.0)
    opened, closed = 0, 0
    for step, number in steps:
        if step == "open":
            opened += case.ledger.open(str(number)) is not None
        elif step == "wait":
            case.clock.now += number
        elif (found := case.ledger.find(str(number))) is not None:
            closed += case.ledger.close(found) is not None
        assert len(case.ledger._open) <= 2
    assert opened == case.ledger.open_count() + closed + case.notices[Notice.EXPIRED]


@pytest.mark.parametrize("entered", [True, False])
def test_handoff_left_to_the_collector_is_forgotten(entered: bool, watched: Watched) -> None:
    """A handoff object that is dropped without ``close()`` leaves the ledger with its collection."""

    def abandon() -> None:
        handoff = rop.start_handoff("qa")
        if entered:
            with handoff, rop.using_stage("vector") as stage:
                stage.returned(["a"])

    abandon()
    gc.collect()
    assert watched.runtime.ledger.open_count() == 0
    assert watched.heard.notices[Notice.EXPIRED, ""] == 1
    assert watched.heard.assessments == []
