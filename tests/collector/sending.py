"""Programs that use the monitor in a process of their own, as an application does, and send to a collector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.grafana.programs import GROUP


def environment(endpoint: str) -> dict[str, str]:
    """Return the variables with which an application sends to a collector, often."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ROP_OTEL_"))}
    return kept | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
        "OTEL_METRIC_EXPORT_INTERVAL": "500",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "OTEL_BLRP_SCHEDULE_DELAY": "200",
    }


class Program:
    """A running program that takes a line and answers with one of JSON."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, line: str) -> Any:
        """Send a line and return the answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{line}\n")
        stdin.flush()
        answer = stdout.readline()
        assert answer, f"the program ended with {self._process.wait(timeout=120)}"
        return json.loads(answer)


@contextmanager
def program(file: Path, *arguments: str, endpoint: str, **variables: str) -> Iterator[Program]:
    """Run a Python program, with further environment variables; it ends with its standard input."""
    command = [sys.executable, str(file), *arguments]
    env = environment(endpoint) | variables
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=GROUP.get(),
    ) as process:
        try:
            yield Program(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=120)
