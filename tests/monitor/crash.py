"""Kills the monitor at random moments under load, and counts what was acknowledged and is not there afterwards.

Run as ``python -m tests.monitor.crash --times 200``; a part of it is in the tests.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import urllib.error
from pathlib import Path

from tests.monitor.exported import request_of
from tests.monitor.served import Served, until
from tests.spans.trace import pipeline

SENDERS = 3


class Load:
    """Handoffs sent one after the other, in two requests each, by several threads, until the service is gone."""

    def __init__(self, served: Served, first: int) -> None:
        self._served = served
        self._numbers = iter(range(first, first + 10**6))
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(SENDERS)]
        self.acknowledged: list[str] = []
        self.next = first

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        while True:
            with self._lock:
                number = next(self._numbers)
                self.next = number + 1
            trace = f"{number + 1:032x}"
            top, *stages = pipeline(trace=trace)
            try:
                for spans in (stages, [top]):
                    if self._served.send(request_of(spans)) != 200:
                        return
            except (OSError, urllib.error.URLError, ConnectionError):
                return
            self.acknowledged.append(trace)


def crash(folder: Path, times: int, seed: int = 1) -> tuple[int, int]:
    """Kill the service so many times, and return how many handoffs were acknowledged and how many of them are lost."""
    moments = random.Random(seed)
    acknowledged: list[str] = []
    first = 0
    for _ in range(times):
        with Served(folder / "kept.db", quiet=0.05) as served:
            load = Load(served, first)
            load.start()
            killer = threading.Timer(moments.uniform(0.05, 0.6), served.process.kill)
            killer.start()
            load.join()
            killer.join()
            served.process.wait()
        acknowledged += load.acknowledged
        first = load.next
    with Served(folder / "kept.db", "--patience", "3", quiet=0.05) as served:  # of some the handoff was never sent
        until(lambda: served.get("/api/summary")["open_traces"] == 0)
        kept = set[str]()
        after: str | None = ""
        while after is not None:
            page = served.get(f"/api/handoffs?verdict=FAIL&limit=500{after and '&after=' + after}")
            kept |= {each["trace_id"] for each in page["handoffs"]}
            after = page["after"]
    return len(acknowledged), len(set(acknowledged) - kept)


def main() -> None:
    """Print what was acknowledged, and what of it is lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sent, lost = crash(Path(folder), arguments.times, arguments.seed)
    print(f"{sent} handoffs acknowledged, {arguments.times} kills, {lost} lost")  # noqa: T201 - a report


if __name__ == "__main__":
    main()
