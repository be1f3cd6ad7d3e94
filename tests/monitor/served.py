"""A monitor as users run it: the command, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from functools import partial
from pathlib import Path
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.grafana import prometheus
from tests.grafana.programs import GROUP

COMMAND = str(Path(sys.executable).with_name("rop-otel"))
PATIENCE = 60.0
"""Seconds after which a test gives up on what has to happen."""

PROTOBUF = "application/x-protobuf"


class Served:
    """``rop-otel monitor`` on free ports, until the block ends."""

    def __init__(self, store: Path, *options: str, quiet: float = 0.2) -> None:
        self.store = str(store)
        self._command = [COMMAND, "monitor", "--store", str(store), "--quiet", str(quiet), *options]
        if not {"--grpc-port", "--http-port"} & set(options):
            self._command += ["--grpc-port", "0", "--http-port", "0"]

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
            process_group=GROUP.get(),
        )
        assert self.process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the monitor ended: {said}")
            said += line
        self.said = said
        self.url = re.search(r"(https?://\S+)/v1/traces", said)[1]  # type: ignore[index]
        self.grpc = re.search(r"gRPC\s+(\S+)", said)[1]  # type: ignore[index]
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def ask(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, Message]:
        """Return status, body and headers of an answer."""
        request = urllib.request.Request(self.url + path, data=body, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(), error.headers

    def get(self, path: str) -> Any:
        """Return what the API answers."""
        status, body, _ = self.ask(path)
        assert status == 200, body
        return json.loads(body)

    def send(self, request: ExportTraceServiceRequest) -> int:
        """Send a request, and return the status."""
        return self.ask("/v1/traces", request.SerializeToString(), {"Content-Type": PROTOBUF})[0]

    def verdicts(self) -> dict[str, int]:
        """Return how many handoffs have each verdict."""
        found: dict[str, int] = self.get("/api/summary")["summary"]["verdicts"]
        return found


until = partial(prometheus.until, within=PATIENCE, what="what the monitor was to do")
"""Wait until something holds."""
