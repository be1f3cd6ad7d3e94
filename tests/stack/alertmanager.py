"""An Alertmanager of our own with the generated routing, and the webhook that it calls."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.grafana.programs import program
from tests.grafana.prometheus import free_port, started

Alert = Mapping[str, Any]


class Webhook(HTTPServer):
    """Keeps the alerts that it is told of, in the order in which they come, and hands each to those in `hearers`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.alerts: list[Alert] = []
        self.hearers: list[Callable[[Alert], object]] = [self.alerts.append]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}/"

    def told(self, status: str) -> list[dict[str, str]]:
        """Return the labels of the alerts of a status: firing or resolved."""
        return [dict(alert["labels"]) for alert in list(self.alerts) if alert["status"] == status]


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        """Hand on what is told."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for alert in json.loads(body)["alerts"]:
            for hear in self.server.hearers:
                hear(alert)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def webhook() -> Iterator[Webhook]:
    """Run a webhook on a free port."""
    server = Webhook()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=120)


@contextmanager
def alertmanager(folder: Path, config: Path) -> Iterator[int]:
    """Run a server with a fresh folder (one that was used before keeps alerts back); gives its port."""
    port = free_port()
    command = [
        program("prometheus-alertmanager"),
        f"--config.file={config}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with started(command, folder / "alertmanager.log", lambda: _ready(port), what="Alertmanager"):
        yield port


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=30) as response:
            return bool(response.status == 200)
    except OSError:
        return False
