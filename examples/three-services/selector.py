"""The selector: picks the page, opens the handoff, and asks the two other services."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from opentelemetry import propagate

import rop_otel as rop

HERE = Path(__file__).parent


def main() -> None:
    """Ask one question."""
    rop.configure(service_name="selector", assess="monitor")
    with rop.handoff("docs-qa", record_id="q1") as handoff:
        handoff.select("page-2")
        found = _ask(["sh", str(HERE / "retriever.sh")])
        print(_ask([sys.executable, str(HERE / "reader.py"), *found.split()]).strip())
    rop.shutdown()  # sends what is left


def _ask(command: list[str]) -> str:
    """Ask another service. Here it is a process, and W3C's traceparent an environment variable instead of a header."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    environment = {**os.environ, "TRACEPARENT": carrier["traceparent"]}
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
