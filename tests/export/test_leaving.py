"""How long it takes to leave a process whose collector is away."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Event

import pytest

from rop_otel.export import process
from rop_otel.export.background_caller import BackgroundCaller
from tests.export.test_own_providers import FAILING, run

MARGIN = 3
"""Seconds that a busy machine may need to wait for six processes and to end them."""

LEAVING = """
import time
print(time.time(), flush=True)
"""


@pytest.fixture
def silent() -> Iterator[str]:
    """Listen, accept every connection, and never answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def seconds_to_leave(ending: str, protocol: str, url: str) -> tuple[float, str]:
    """Run a program that sends every signal there, and return how long its end took, and what it said."""
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    ended = run(FAILING + LEAVING + ending, variables)
    assert ended.returncode == 0, ended.stderr
    return time.time() - float(ended.stdout), ended.stderr


def test_leaving_takes_less_than_five_seconds_in_all(silent: str) -> None:
    """Where the collector never answers, a process waits four seconds, with shutdown() before or without."""
    endings = ["", "rop.shutdown()", "rop.shutdown(timeout=1)"]
    protocols = ["http/protobuf", "grpc"]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda each: seconds_to_leave(each[0], each[1], silent), product(endings, protocols)))
    for took, said in found:
        assert took < process.EXIT_SECONDS + MARGIN
        assert "the exporters took longer than" in said
    assert max(took for took, _ in found[2:]) - min(took for took, _ in found[:2]) < MARGIN


def test_signals_wait_for_their_own_collectors_only() -> None:
    """What one exporter waits for keeps no time from another."""
    hung, sent = Event(), Event()
    assert not BackgroundCaller().call(lambda: hung.wait(60), sent.set, timeout=0.2)
    assert sent.is_set()
    hung.set()


def test_a_call_that_came_back_later_was_not_in_vain() -> None:
    """Seconds count as waited in vain for as long as the exporter has not come back."""
    hung, back = Event(), Event()
    caller = BackgroundCaller()

    def export() -> None:
        hung.wait(60)
        back.set()

    assert not caller.call(export, timeout=0.1)
    assert caller.waited() >= 0.1
    hung.set()
    assert back.wait(60)
    assert caller.call(lambda: None, timeout=60)
    while caller.waited():
        time.sleep(0.001)
