"""What packages record of a handoff only at its end."""

from __future__ import annotations

from typing import Any

import rop_otel as rop
from rop_otel.instrumenting import (
    before_the_end,
    citations_in,
    current_context,
    kept_until_the_end,
    moment,
    notes,
    ran,
    using_context,
)


def packing(handoff: rop.Handoff, labels: list[str], calls: list[Any]) -> None:
    """Have a packing recorded later that runs now."""
    times, context = (moment(handoff), moment(handoff)), current_context()

    def record() -> None:
        calls.append(labels)
        with using_context(context), ran(rop.using_stage("packing", fed_by=["find"]), *times) as stage:
            stage.returned(["a"], labels=labels)

    before_the_end(handoff, record)


def find(*ids: str) -> None:
    """Retrieve."""
    with rop.using_stage("vector", name="find") as stage:
        stage.returned(ids)


def test_what_is_recorded_at_the_end_stands_where_it_ran(watch: Any) -> None:
    """A stage that is recorded later is fed by what ran before it, not by what ran since."""
    with rop.handoff("mine", selected="a") as handoff:
        find("a")
        packing(handoff, ["1"], [])
        find("b")
    assert [stage.stage for stage in handoff.assessment.stages] == ["vector", "packing", "vector"]
    assert (handoff.assessment.verdict, handoff.assessment.findings) == ("PASS", ())


def test_it_is_recorded_once_before_the_answer_is_told(watch: Any) -> None:
    """The labels that are recorded are those that an answer cites."""
    calls: list[Any] = []
    with rop.handoff("mine", selected="a") as handoff:
        find("a")
        packing(handoff, ["S1"], calls)
        handoff.answered("It is so [S1], [S2].", sources=["a"])
        assert citations_in(handoff, "See [S1].") == ("S1",)
    assert len(calls) == 1
    assert (handoff.assessment.citations.resolved, handoff.assessment.citations.unresolved) == (1, 1)


def test_it_is_recorded_inside_of_the_handoff(watch: Any) -> None:
    """Wherever that ends, a stage that is recorded then is its own, and of no round."""

    def record() -> None:
        with rop.using_stage("packing") as stage:
            stage.returned(["a"])

    with rop.handoff("mine", selected="a") as handoff:
        before_the_end(handoff, record)
    with rop.handoff("around") as around, rop.using_round(2):
        other = rop.start_handoff("other", selected="a")
        before_the_end(other, record)
        other.close()
    assert [each.assessment.verdict for each in (handoff, other)] == ["PASS", "PASS"]
    assert not around.assessment.stages


def test_without_a_handoff_nothing_is_recorded() -> None:
    """Where none is open, there is no moment and no end."""
    calls: list[Any] = []
    silent = rop.current_handoff()
    before_the_end(silent, lambda: calls.append(1))
    silent.close()
    assert (moment(silent), calls) == (0, [])


def test_what_is_kept_is_recorded_once_and_forgotten(watch: Any) -> None:
    """A handoff has one of each key, which is recorded at its end and then kept no more."""
    settled: list[list[str]] = []

    def kept(handoff: rop.Handoff) -> list[str]:
        return kept_until_the_end(handoff, "mine", list, settled.append)

    with rop.handoff("mine", selected="a") as handoff:
        kept(handoff).append("x")
        kept(handoff).append("y")
        assert notes(handoff)["mine"] == ["x", "y"]
        find("a")
    assert settled == [["x", "y"]]
    assert "mine" not in notes(handoff)
