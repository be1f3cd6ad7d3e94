"""``/metrics`` in front of those that only hold connections."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.request import urlopen

import pytest

from rop_otel.export import serving
from rop_otel.export.prometheus import MetricsServer
from rop_otel.meters.tally import Tally
from tests.export.scraping import fetch

HOLDERS = 300
"""Connections from elsewhere, of each of which this process holds both ends."""


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    """Serve an empty tally on a free port."""
    tally = Tally()
    server = MetricsServer(lambda: tally, host="127.0.0.1", port=0)
    yield server
    server.stop()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def status(port: int, request: bytes) -> str:
    """Return the status that a request is answered with, all of which is read."""
    with connect(port) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(4096), b"")).decode().partition("\r\n")[0].partition(" ")[2]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts the files that the process has open")
def test_dripping_connections_take_nothing_of_the_application(server: MetricsServer) -> None:
    """With hundreds of connections that send a letter now and then, a scrape is answered, and few files are open."""
    files, threads = open_files(), threading.active_count()
    with ExitStack() as held:
        dripping = [held.enter_context(connect(server.port)) for _ in range(HOLDERS)]
        for connection in dripping:
            with suppress(ConnectionError):
                connection.sendall(b"GET /")
        assert "rop_handoff_verdicts_total" in fetch(server.port)[1]
        assert threading.active_count() == threads
        assert open_files() - files - HOLDERS <= serving._MOST_OPEN
        for connection in dripping:
            with suppress(ConnectionError):
                connection.sendall(b"m")
        assert "rop_handoff_verdicts_total" in fetch(server.port)[1]


def test_a_dripping_request_is_dropped(server: MetricsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request has so many seconds as a whole, however often some of it comes."""
    monkeypatch.setattr(serving, "_PATIENCE_SECONDS", 0.3)
    with connect(server.port) as connection, suppress(ConnectionError):
        connection.settimeout(0.01)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            connection.sendall(b"G")
            with suppress(TimeoutError):
                assert connection.recv(1) == b""
                break
        assert time.monotonic() < end


def test_a_slow_reader_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that is not read is given up, and others are answered meanwhile."""
    monkeypatch.setattr(serving, "_PATIENCE_SECONDS", 0.3)
    much = serving.Server(lambda _: b"x" * 50_000_000, host="127.0.0.1", port=0)
    try:
        with connect(much.port) as slow, connect(much.port) as quick:
            slow.sendall(b"GET / HTTP/1.1\r\n\r\n")
            quick.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert quick.recv(1) == b"x"
            end = time.monotonic() + 60
            while much._open and time.monotonic() < end:
                time.sleep(0.01)
            assert not much._open
    finally:
        much.stop()


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK"),
        (b"GET / HTTP/1.0\n\n", "200 OK"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
        (b"GET\r\n\r\n", "400 Bad Request"),
        (b"\r\n\r\n", "400 Bad Request"),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 20_000, "431 Request Header Fields Too Large"),
    ],
)
def test_answers(server: MetricsServer, request_: bytes, answer: str) -> None:
    """What asks for metrics gets them, and anything else its status."""
    assert status(server.port, request_) == answer


def test_head_has_no_body(server: MetricsServer) -> None:
    """A HEAD request gets the length of what GET would get, and nothing of it."""
    with connect(server.port) as connection:
        connection.sendall(b"HEAD /metrics HTTP/1.1\r\n\r\n")
        head, _, body = b"".join(iter(lambda: connection.recv(4096), b"")).partition(b"\r\n\r\n")
    assert body == b""
    assert int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]) > 1000


def test_a_tally_that_fails_does_not_end_the_server() -> None:
    """What fails while metrics are read is that scrape's own misfortune."""
    tallies = iter([Tally()])
    server = MetricsServer(lambda: next(tallies), host="127.0.0.1", port=0)
    try:
        assert "rop_handoff_verdicts_total" in fetch(server.port)[1]
        assert status(server.port, b"GET / HTTP/1.1\r\n\r\n") == "500 Internal Server Error"
        tallies = iter([Tally()])
        assert "rop_handoff_verdicts_total" in fetch(server.port)[1]
    finally:
        server.stop()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts the files that the process has open")
def test_without_files_to_open_the_server_waits(server: MetricsServer) -> None:
    """While the process has no file left, the server takes next to no processor time, and then goes on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as waiting:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            waiting.connect(("127.0.0.1", server.port))
            waiting.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            before = time.process_time()
            time.sleep(0.5)
            assert time.process_time() - before < 0.25
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        waiting.settimeout(60)
        assert waiting.recv(12) == b"HTTP/1.1 200"
    with urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as response:
        assert response.status == 200
