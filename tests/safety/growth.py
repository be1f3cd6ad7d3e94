"""How the time of a call grows with the size of what it is given."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

TIMES: Final = 4
"""How much larger the larger input is: twice as large, twice."""

MOST: Final = 3.2**2
"""What the larger one may take. Linear growth is 4, quadratic growth 16, and the rest is what machines do."""

_RUNS: Final = 2
_ATTEMPTS: Final = 6

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Case:
    """One way to give much.

    Args:
        name: What there is much of.
        size: How much of it; 4 times as much is compared.
        prepare: Makes the input of a size, and returns the call that is measured.
    """

    name: str
    size: int
    prepare: Callable[[int], Call]

    def __str__(self) -> str:
        return self.name


def growth(case: Case) -> float:
    """Return how many times longer the larger input takes; measured again where a busy machine may be the reason."""
    small, large = case.prepare(case.size), case.prepare(TIMES * case.size)
    least = [float("inf"), float("inf")]
    for _ in range(_ATTEMPTS):
        for place, call in enumerate((small, large)):
            least[place] = min(least[place], *(_seconds(call) for _ in range(_RUNS)))
        if least[1] <= MOST * least[0]:
            break
    return least[1] / least[0]


def _seconds(call: Call) -> float:
    """Return the processor time of a call; what the collector does depends on what else is alive."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        call()
        return time.process_time() - start
    finally:
        if enabled:
            gc.enable()
