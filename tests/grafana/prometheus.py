"""A Prometheus of our own: started on a free loopback port with a fresh folder, and stopped."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.grafana.programs import GROUP, program

T = TypeVar("T")


def free_port() -> int:
    """Return a loopback port that nobody listens on, and that the system gives to no other program meanwhile.

    A socket that never listens holds it. Where a server that reuses addresses, as all here do, may not listen beside
    it, which is so elsewhere than on Linux, nothing holds it.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port: int = holder.getsockname()[1]
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        holder.close()
    else:
        holder.detach()  # for as long as the tests run
    return port


def until(ask: Callable[[], T], *, within: float, what: str) -> T:
    """Ask until the answer is true, and return it.

    Raises:
        AssertionError: It did not become true in time.
    """
    deadline = time.monotonic() + within
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        time.sleep(0.25)


class Prometheus:
    """A running server.

    Args:
        port: Where it listens.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str, **parameters: str) -> Any:
        """Return the data of an answer."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=60) as response:
            return json.load(response)["data"]

    def query(self, expression: str) -> list[Mapping[str, Any]]:
        """Return the series of an instant query."""
        result: list[Mapping[str, Any]] = self.get("query", query=expression)["result"]
        return result

    def alerts(self) -> list[Mapping[str, Any]]:
        """Return the alerts that are pending or firing."""
        alerts: list[Mapping[str, Any]] = self.get("alerts")["alerts"]
        return alerts

    def ready(self) -> bool:
        """Return whether it answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=30) as response:
                return bool(response.status == 200)
        except OSError:
            return False


def _at(port: int) -> dict[str, object]:
    return {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}


@contextmanager
def started(command: list[str], log_file: Path, ready: Callable[[], bool], *, what: str) -> Iterator[None]:
    """Run a server within the block, from when it is ready; what it prints is in the log file."""
    with (
        log_file.open("ab") as log,
        subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            process_group=GROUP.get(),
        ) as process,
    ):
        try:
            until(lambda: ready() or process.poll() is not None, within=120, what=f"{what} is ready")
            assert process.poll() is None, log_file.read_text(encoding="utf-8")
            yield
        finally:
            process.terminate()
            process.wait(timeout=120)


@contextmanager
def prometheus(
    folder: Path,
    *,
    rules: Path,
    targets: Mapping[str, int],
    collector: int | None = None,
    alerts_to: int | None = None,
    every: str = "1s",
) -> Iterator[Prometheus]:
    """Run a server that scrapes often.

    Args:
        folder: For its configuration, its log and its data, which are kept between two servers.
        rules: Folder of rule files.
        targets: Ports to scrape, by job.
        collector: Port of a collector that shows the metrics of others, whose labels are kept.
        alerts_to: Port of an Alertmanager.
        every: How often it scrapes, which is also how long it waits for an answer.
    """
    scraped: list[dict[str, object]] = [{"job_name": job, **_at(port)} for job, port in targets.items()]
    if collector is not None:
        scraped.append({"job_name": "collector", "honor_labels": True, **_at(collector)})
    config = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": "1s"},
        "rule_files": [str(rules / "recording.yaml"), str(rules / "alerts.yaml")],
        "scrape_configs": scraped,
        "alerting": {"alertmanagers": [] if alerts_to is None else [_at(alerts_to)]},
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    command = [
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.allow-overlapping-blocks",
        f"--web.listen-address=127.0.0.1:{port}",
        "--enable-feature=exemplar-storage",
    ]
    server = Prometheus(port)
    with started(command, folder / "prometheus.log", server.ready, what="Prometheus"):
        yield server
