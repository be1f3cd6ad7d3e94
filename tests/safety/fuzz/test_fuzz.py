from __future__ import annotations

import pytest

from tests.safety.fuzz.doors import Door, Monitored
from tests.safety.fuzz.faults import FAULTS
from tests.safety.fuzz.running import steady
from tests.safety.fuzz.search import run, search
from tests.safety.fuzz.tree import Node, Program
from tests.safety.fuzz.writing import write

SEEDS = range(8)
PROGRAMS = 2_600
"""For each of the seeds: more than 20,000 in all."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_does_the_same_decorated_as_bare(seed: int) -> None:
    """Results, exceptions, contexts, side effects and their order are the same with the monitor, on and off."""
    found = search(seed, PROGRAMS)
    assert found is None, f"\n{found}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_monitor_with_a_fault_is_found(fault: str) -> None:
    """The programs show what no monitor may do to an application."""

    def doors(seed: str) -> list[Door]:
        return [Monitored(seed, stage=FAULTS[fault])]

    assert search(0, 4_000, doors=doors, small=False) is not None


def test_a_program_is_made_again_from_its_seed() -> None:
    """The seed that a failure names gives the same program."""
    assert write("5-17").source == write("5-17").source
    assert write("5-17").source != write("5-18").source


def test_what_differs_is_named() -> None:
    """A program that sees whether it is monitored fails, and the report says what it saw."""
    seen = Node("tell(type(start_handoff('qa')).__name__)")
    program = Program("by hand", (Node("def main():", (seen,)),))
    with steady():
        found = run(program)
    assert len(found) == 2
    assert "Nothing" in found[0]
