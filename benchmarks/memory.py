"""Whether memory grows: handoffs opened and closed, and handoffs abandoned, 200,000 of each by default."""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import rop_otel as rop
from rop_otel.meters.tally import Tally
from rop_otel.tracing.running import runtime

HANDOFFS = 200_000
SAMPLES = 20
WARM_UP = 0.2
"""Share of the handoffs before the slope is taken: pools fill and the cap on open handoffs is reached."""


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else HANDOFFS
    config = rop.configure(ttl_seconds=5.0, max_open=1000).config
    runtime.install(runtime.Runtime(config, sinks=(Tally(),)))
    closed = _slope(_closed, count)
    abandoned = _slope(_abandoned, count)
    print(f"Resident memory over {count:,} handoffs")
    print(f"  opened and closed   {closed:>10.2f} bytes a handoff   target 0")
    print(f"  abandoned           {abandoned:>10.2f} bytes a handoff   target 0")
    print(f"  peak                {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>10.1f} MiB")
    print(json.dumps({"closed_bytes_each": round(closed, 3), "abandoned_bytes_each": round(abandoned, 3)}))


IDS = [f"doc-{number}" for number in range(20)]


@rop.stage("vector")
def retrieve() -> list[str]:
    """Return the same documents every time."""
    return IDS


def _closed() -> None:
    with rop.handoff("docs-qa", cutoff=5) as handoff:
        handoff.select("doc-1")
        retrieve()


def _abandoned() -> None:
    handoff = rop.start_handoff("docs-qa", cutoff=5)
    handoff.select("doc-1")


def _slope(call: Callable[[], None], count: int) -> float:
    """Return how many bytes resident memory grows by a call, by least squares after the warm-up."""
    points: list[tuple[int, int]] = []
    for sample in range(SAMPLES):
        for _ in range(count // SAMPLES):
            call()
        gc.collect()
        if sample >= SAMPLES * WARM_UP:
            points.append(((sample + 1) * (count // SAMPLES), _resident()))
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
