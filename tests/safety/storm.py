"""Forks while threads run handoffs, and has each child run some; prints how the children ended.

Arguments: ``bare``, ``configured`` or ``exporting`` (to wherever the environment says); ``inside`` or ``outside`` of a
handoff of the parent; how many seconds to go on.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections import Counter

import rop_otel as rop

PATIENCE = 20
"""Seconds after which a child counts as one that hangs."""


@rop.stage("packing")
def pack() -> list[str]:
    """Return what a reader is shown."""
    return ["d1"]


def answer() -> rop.Assessment:
    """Run one handoff."""
    with rop.handoff("qa", selected="d1") as handoff:
        pack()
    return handoff.assessment


def load(over: threading.Event) -> None:
    """Run handoffs until the end."""
    while not over.is_set():
        answer()


def child() -> None:
    """Run handoffs, and end without the interpreter's end."""
    signal.alarm(PATIENCE)
    passed = all(answer().verdict == "PASS" for _ in range(3))
    os._exit(0 if passed else 1)


def fork() -> str:
    """Fork, and return how the child ended."""
    process = os.fork()
    if process == 0:
        pack()
        child()
    status = os.waitpid(process, 0)[1]
    return "hung" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else str(status)


def main(mode: str, where: str, seconds: float) -> None:
    """Fork again and again."""
    logging.disable()
    if mode != "bare":
        rop.configure(metrics_port=0)
    over = threading.Event()
    threads = [threading.Thread(target=load, args=(over,), daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    ends: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until and "hung" not in ends:
        if where == "inside":
            with rop.handoff("qa", selected="d1") as around:
                ends[fork()] += 1
                pack()
            ends[f"parent {around.assessment.verdict}"] += 1
        else:
            ends[fork()] += 1
    sys.setswitchinterval(interval)
    over.set()
    print(dict(ends))  # noqa: T201
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
