"""Run a selector, a retriever, a reader and the monitor that sees their handoffs; ask, and print what it says.

With ``--stay`` they go on until Ctrl-C, so that the page can be looked at.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

from corpus import QUESTIONS
from main import free_port, service, started

COMMAND = Path(sys.executable).with_name("rop-otel")
EMIT_ONLY = {"ROP_OTEL_ASSESS": "monitor", "OTEL_METRICS_EXPORTER": "none", "OTEL_BSP_SCHEDULE_DELAY": "200"}
"""What makes the same services leave assessing to the monitor, which has the metrics, too, and send spans at once."""

QUIET = "3"
"""Seconds without a span of a trace after which the monitor assesses it: longer than any service keeps spans back."""


class Running(NamedTuple):
    """Where to ask, and where the monitor is."""

    selector: str
    monitor: str


def main() -> None:
    """Run everything, and show what the monitor says."""
    with running() as services:
        show(services)
        if "--stay" in sys.argv:
            print(f"The page: {services.monitor}/. Ctrl-C ends it.", flush=True)
            with suppress(KeyboardInterrupt):
                Event().wait()


def show(services: Running) -> None:
    """Ask, wait for the monitor, and print."""
    asked = {f"q{number}": question for number, question in enumerate(QUESTIONS, 1)}
    for record, question in asked.items():
        get(f"{services.selector}/answer?{urlencode({'question': question, 'record': record})}")
    for row in sorted(assessed(services.monitor, len(asked)), key=lambda row: str(row["record_id"])):
        print(f"{row['record_id']}  {row['verdict']}  {QUESTIONS[asked[row['record_id']]]} {outcome(row)}")


def outcome(row: Mapping[str, Any]) -> str:
    """Return in words what became of a selected passage."""
    return f"was lost at {row['dropped_at']} ({row['drop_cause']})" if row["drop_cause"] else "arrived"


@contextmanager
def running() -> Iterator[Running]:
    """Run the monitor and the three services on free ports."""
    with (
        tempfile.TemporaryDirectory() as folder,
        monitor(folder) as receiver,
        service("retriever", receiver, **EMIT_ONLY) as retriever,
        service("reader", receiver, **EMIT_ONLY) as reader,
        service("selector", receiver, RETRIEVER=retriever, READER=reader, **EMIT_ONLY) as selector,
    ):
        yield Running(selector, receiver)


@contextmanager
def monitor(folder: str) -> Iterator[str]:
    """Run a monitor, and give its address."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    options = ["--store", f"{folder}/kept.db", "--grpc-port", "0", "--http-port", str(port), "--quiet", QUIET]
    with started([str(COMMAND), "monitor", *options], {}, f"{address}/readyz"):
        yield address


def assessed(monitor: str, count: int) -> list[dict[str, Any]]:
    """Return the rows of so many handoffs, once they have been assessed."""
    while True:
        rows: list[dict[str, Any]] = get(f"{monitor}/api/handoffs")["handoffs"]
        if len(rows) >= count:
            return rows
        time.sleep(0.2)


def get(url: str) -> Any:
    """Return what an address answers."""
    with urlopen(url, timeout=120) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
