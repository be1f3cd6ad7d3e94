"""A collector of our own: the built binary with layered configurations, on free loopback ports, started and stopped."""

from __future__ import annotations

import os
import resource
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.grafana.programs import GROUP
from tests.grafana.prometheus import free_port, until

FOLDER = Path(__file__).parents[2] / "collector-config"
WHOLE = ("agent.yaml", "privacy.yaml", "sampling.yaml", "backends.yaml", "extras.yaml")


def binary() -> Path:
    """Return the built collector.

    Where it has not been built, a test is skipped, except in CI, where it fails: nothing is skipped there unseen.
    """
    found = subprocess.run([FOLDER / "build.sh", "--where"], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return Path(found.stdout.strip())
    reason = f"{found.stderr.strip()} (needs go)"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI=true, so this test may not be skipped)")
    pytest.skip(reason)


def configured(layers: Sequence[str | Path]) -> list[str]:
    """Return the arguments that name these layers, by name in the folder or by path."""
    return [part for layer in layers for part in ("--config", str(FOLDER / layer))]


def validate(layers: Sequence[str | Path], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Have the collector check layered configurations."""
    command = [str(binary()), "validate", *configured(layers)]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


class Collector:
    """A collector that can be killed and started again with the same ports and state.

    Args:
        folder: For its log, its queues and its archive.
        layers: The configurations, in order.
        grpc: Port for OTLP over gRPC; any free one otherwise.
        environment: Variables of the configurations, beside the ports.
    """

    def __init__(
        self, folder: Path, layers: Sequence[str | Path] = WHOLE, *, grpc: int | None = None, **environment: str
    ) -> None:
        self.grpc = grpc or free_port()
        self.http, self.metrics, self.own, self._health = (free_port() for _ in range(4))
        self.traces = folder / "archive" / "traces.jsonl"
        self.events = folder / "archive" / "events.jsonl"
        self.log = folder / "collector.log"
        self._command = [str(binary()), *configured(layers)]
        self._environment = environment | {
            "ROP_COLLECTOR_GRPC_PORT": str(self.grpc),
            "ROP_COLLECTOR_HTTP_PORT": str(self.http),
            "ROP_COLLECTOR_METRICS_PORT": str(self.metrics),
            "ROP_COLLECTOR_SELF_PORT": str(self.own),
            "ROP_COLLECTOR_HEALTH_PORT": str(self._health),
            "ROP_COLLECTOR_STATE": str(folder),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where it takes OTLP over HTTP."""
        return f"http://127.0.0.1:{self.http}"

    def start(self) -> None:
        """Start, and wait until it takes data."""
        with self.log.open("ab") as log:
            env = {**os.environ, **self._environment}
            self._process = process = subprocess.Popen(
                self._command,
                env=env,
                stdout=log,
                stderr=log,
                process_group=GROUP.get(),
            )
        until(lambda: self.ready() or process.poll() is not None, within=120, what="the collector is ready")
        assert process.poll() is None, self.log.read_text(encoding="utf-8")[-3000:]

    def stop(self) -> None:
        """End it: it writes and sends what it has."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=120)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=120)

    def limit_files(self, size: int) -> None:
        """Let no file that it writes become larger, as on a full disk; -1 for any size."""
        if self._process is not None:
            _, most = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (most if size < 0 else size, most))

    def ready(self) -> bool:
        """Return whether it takes data."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health}/", timeout=30) as response:
                return bool(response.status == 200)
        except OSError:
            return False


@contextmanager
def collector(
    folder: Path, layers: Sequence[str | Path] = WHOLE, *, grpc: int | None = None, **environment: str
) -> Iterator[Collector]:
    """Run a collector in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Collector(folder, layers, grpc=grpc, **environment)
    try:
        made.start()
        yield made
    finally:
        made.stop()
