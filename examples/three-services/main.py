"""Start a monitor, ask one question of three services, and print what became of the selected page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).with_name("rop-otel")


def main() -> None:
    """Ask, wait for the monitor, and print."""
    with tempfile.TemporaryDirectory() as folder, monitor(folder) as url:
        sent = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{url}/v1/traces",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_METRICS_EXPORTER": "none",  # the monitor has the metrics
        }
        subprocess.run([sys.executable, HERE / "selector.py"], env={**os.environ, **sent}, check=True)
        row = assessed(url)
        handoff = ask(f"{url}/api/handoffs/{row['handoff_id']}")
        for stage in handoff["stages"]:
            print(f"{stage['stage']:<10} {', '.join(stage['ids'])}")
        print(f"{handoff['verdict']}: {handoff['selected'][0]} was lost at {handoff['dropped_at']}", end=" ")
        print(f"({handoff['drop_cause']})")


@contextmanager
def monitor(folder: str) -> Iterator[str]:
    """Run a monitor on free ports, and give the address of its HTTP side."""
    command = [COMMAND, "monitor", "--store", f"{folder}/kept.db", "--quiet", "1"]
    with subprocess.Popen(
        [*command, "--grpc-port", "0", "--http-port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            addresses = (re.search(r"(http://\S+)/v1/traces", line) for line in process.stdout)
            found = next(filter(None, addresses), None)
            if found is None:
                sys.exit("The monitor did not start.")  # it has said why
            yield found[1]
        finally:
            process.terminate()


def assessed(url: str) -> dict[str, Any]:
    """Return the row of the handoff, once it has been assessed."""
    while True:
        rows = ask(f"{url}/api/handoffs")["handoffs"]
        if rows:
            return dict(rows[0])
        time.sleep(0.2)


def ask(url: str) -> dict[str, Any]:
    """Return what the monitor's API answers."""
    with urlopen(url) as answer:
        return dict(json.load(answer))


if __name__ == "__main__":
    main()
