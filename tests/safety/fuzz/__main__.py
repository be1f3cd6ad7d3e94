"""Runs many random programs, bare and decorated: ``python -m tests.safety.fuzz --programs 1000000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.safety.fuzz.known import INHERENT
from tests.safety.fuzz.running import steady
from tests.safety.fuzz.search import Found, run, search, shrink
from tests.safety.fuzz.writing import write


def main() -> int:
    """Run them, and print the first one that differs."""
    stays = "Not compared, since it stays different: " + "; ".join(f"{name} ({why})" for name, why in INHERENT.items())
    parser = argparse.ArgumentParser(prog="python -m tests.safety.fuzz", description=__doc__, epilog=stays)
    parser.add_argument("--programs", type=int, default=100_000, help="how many programs")
    parser.add_argument("--seed", type=int, default=1, help="what the programs are drawn from")
    parser.add_argument("--only", help="run one program again, by its own seed, and print it")
    asked = parser.parse_args()
    if asked.only:
        return _again(asked.only)
    started = time.perf_counter()
    found = search(asked.seed, asked.programs)
    seconds = time.perf_counter() - started
    ran = asked.programs if found is None else found.number
    sys.stdout.write(f"{ran} programs in {seconds:.0f} s, {ran / seconds:.0f} in a second\n")
    sys.stdout.write("No program differs.\n" if found is None else str(found))
    return found is not None


def _again(seed: str) -> int:
    program = write(seed)
    sys.stdout.write(program.source + "\n")
    with steady():
        differs = run(program)
        if differs:
            sys.stdout.write("It differs; made small:\n\n" + str(Found(*shrink(program, differs), 1)))
    return bool(differs)


if __name__ == "__main__":
    sys.exit(main())
