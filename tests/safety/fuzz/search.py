"""Looks for a program that the monitor changes, and makes it small."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rop_otel.errors import UsageError
from tests.safety.fuzz.running import Doors, NoProgramError, compared, monitored, steady, wind
from tests.safety.fuzz.tree import Program, smaller
from tests.safety.fuzz.writing import write

_REST = 200
_SECONDS = 10
"""For how long a program is made smaller."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program that the monitor changes.

    Args:
        program: The smallest that was found.
        differences: What differs.
        number: Programs that were run up to this one.
    """

    program: Program
    differences: list[str]
    number: int

    def __str__(self) -> str:
        seen = "\n".join(self.differences)
        again = f"python -m tests.safety.fuzz --only {self.program.seed}"
        return f"Seed {self.program.seed}, run it alone with: {again}\n\n{self.program.source}\n{seen}\n"


def seeds(seed: int, programs: int) -> Iterator[str]:
    """Give the seeds of a run's programs."""
    return (f"{seed}-{number}" for number in range(programs))


def search(seed: int, programs: int, *, doors: Doors = monitored, small: bool = True) -> Found | None:
    """Return the first program that differs, None where none does.

    Args:
        seed: What the programs are drawn from.
        programs: How many.
        doors: What they go through beside the bare one.
        small: Whether it is made small.
    """
    with steady():
        for number, each in enumerate(seeds(seed, programs), start=1):
            if number % _REST == 0:
                gc.freeze()  # what caches keep need not be looked through each time
            program = write(each)
            found = run(program, doors)
            if found:
                return Found(*(shrink(program, found, doors) if small else (program, found)), number)
    return None


def run(program: Program, doors: Doors = monitored) -> list[str]:
    """Run one program, and say what differs."""
    wind()
    return compared(program, doors)


def shrink(program: Program, found: list[str], doors: Doors = monitored) -> tuple[Program, list[str]]:
    """Leave out of a program what it can do without, and still differ in the same part."""
    until = time.monotonic() + _SECONDS
    parts = _parts(found)
    candidates = smaller(program.nodes)
    while time.monotonic() < until and (nodes := next(candidates, None)) is not None:
        candidate = replace(program, nodes=nodes)
        try:
            differs = run(candidate, doors)
        except NoProgramError:
            continue
        if differs and _parts(differs) <= parts and not _is_misused(differs):
            program, found = candidate, differs
            candidates = smaller(program.nodes)
    return program, found


def _is_misused(found: list[str]) -> bool:
    """Return whether what is left decorates something that is no function any more."""
    return any(UsageError.__name__ in each for each in found)


def _parts(found: list[str]) -> set[str]:
    return {each.split(":")[0].split(",")[0] for each in found}
