"""Run the benchmarks and write results.md: what they printed, on which machine, with which versions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = ("overhead", "assess", "memory", "evaluate")
PACKAGES = ("opentelemetry-sdk", "prometheus-client", "pydantic", "pytrec-eval-terrier")


def main() -> None:
    """Run what is named on the command line, or everything."""
    chosen = sys.argv[1:] or list(BENCHMARKS)
    parts = [_heading(), *(_run(name) for name in chosen)]
    results = HERE / "results.md"
    results.write_text("\n".join(parts), encoding="utf-8")
    print(f"Wrote {results.relative_to(HERE.parent)}")


def _heading() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return (
        "# Benchmark results\n\n"
        "Written by `make bench`. Times are medians of CPU time over interleaved rounds in one process; other\n"
        "machines have other times, so judge by the ratios.\n\n"
        f"- {now}, {machine}\n- {platform.python_implementation()} {platform.python_version()}, {versions}\n"
    )


def _run(name: str) -> str:
    print(f"Running {name} ...", flush=True)
    command = [sys.executable, str(HERE / f"{name}.py")]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    print(finished.stdout, flush=True)
    return f"## {name}\n\n```text\n{finished.stdout}```\n"


if __name__ == "__main__":
    main()
