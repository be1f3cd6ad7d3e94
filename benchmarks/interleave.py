"""How every benchmark measures: contenders take turns in one process, and medians of CPU time are compared.

Machines are noisy, so no absolute time counts here: each figure is a ratio to something that ran in the same rounds.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping

ROUNDS = 21


def microseconds(
    contenders: Mapping[str, Callable[[], object]], *, calls: int, rounds: int = ROUNDS
) -> dict[str, float]:
    """Return the median CPU time of one call of each contender, in microseconds.

    Args:
        contenders: Name to what is called; the order changes from round to round.
        calls: Calls of each in one round.
        rounds: Rounds, at least 15.
    """
    names = list(contenders)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for call in contenders.values():
        for _ in range(max(calls // 10, 3)):
            call()
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            taken[name].append(_one_round(contenders[name], calls))
    return {name: statistics.median(times) for name, times in taken.items()}


def _one_round(call: Callable[[], object], calls: int) -> float:
    gc.collect()
    start = time.process_time_ns()
    for _ in range(calls):
        call()
    return (time.process_time_ns() - start) / calls / 1000


def report(title: str, times: Mapping[str, float], results: Mapping[str, float], targets: Mapping[str, str]) -> None:
    """Print the times for people, each result beside its target, and the results as one JSON line.

    Args:
        title: What was measured.
        times: Contender to microseconds per call.
        results: Name to value.
        targets: Result name to the target in words, ``<= 1.35``.
    """
    print(title)
    for name, value in times.items():
        print(f"  {name:<32}{value:>10.2f} us CPU")
    for name, value in results.items():
        print(f"  {name:<32}{value:>10.3f}   target {targets.get(name, 'none')}")
    print(json.dumps({name: round(value, 4) for name, value in results.items()}))
