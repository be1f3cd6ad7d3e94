"""A web application for a server that loads it once and forks its workers; threads are busy where it was loaded."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

import rop_otel as rop


@rop.stage("packing")
def pack() -> list[str]:
    """Return what a reader is shown."""
    return ["d1"]


def answer() -> rop.Assessment:
    """Run one handoff."""
    with rop.handoff("qa", selected="d1") as handoff:
        pack()
    return handoff.assessment


def load() -> None:
    """Run handoffs for ever."""
    while True:
        answer()


def application(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Say which process answers, and the verdict."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {answer().verdict}".encode()]


def create() -> Callable[..., Iterable[bytes]]:
    """Configure, start the threads, and return the application."""
    rop.configure()
    for _ in range(3):
        threading.Thread(target=load, daemon=True).start()
    return application
