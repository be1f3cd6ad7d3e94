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
ROOT = HERE.parent
BENCHMARKS = ("overhead", "assess", "memory", "evaluate", "frameworks", "monitor", "study")
STACK = "stack"
COLLECTOR = ROOT / "collector-config" / "build.sh"
PACKAGES = (
    "opentelemetry-sdk",
    "prometheus-client",
    "pydantic",
    "pytrec-eval-terrier",
    "langchain-core",
    "openinference-instrumentation-langchain",
    "llama-index-core",
    "openinference-instrumentation-llama-index",
    "haystack-ai",
    "openinference-instrumentation-haystack",
)


def main() -> None:
    """Run everything, or what is named on the command line beside what earlier runs wrote."""
    results = HERE / "results.md"
    before = _sections(results) if sys.argv[1:] else {}
    found = {name: _run(name) for name in sys.argv[1:] or [*BENCHMARKS, *_with_collector()]}
    results.write_text("\n".join([_heading(), *{**before, **found}.values()]), encoding="utf-8")
    print(f"Wrote {results.relative_to(ROOT)}")


def _sections(results: Path) -> dict[str, str]:
    """Return what earlier runs wrote, by benchmark, for those that are not run now."""
    _, *sections = results.read_text(encoding="utf-8").split("\n## ")
    return {section.partition("\n")[0]: f"## {section.rstrip()}\n" for section in sections}


def _with_collector() -> list[str]:
    """Return what needs the collector; nothing, and say so, where it has not been built."""
    found = subprocess.run([COLLECTOR, "--where"], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return [STACK]
    print(f"Skipping {STACK}: {found.stderr.strip()}", flush=True)
    return []


def _heading() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return (
        "# Benchmark results\n\n"
        "Written by `make bench`. Times are medians of CPU time over interleaved rounds; other\n"
        "machines have other times, so compare the ratios.\n\n"
        f"- {now}, {machine}\n- {platform.python_implementation()} {platform.python_version()}, {versions}\n"
    )


def _run(name: str) -> str:
    print(f"Running {name} ...", flush=True)
    command = [sys.executable, str(HERE / f"{name}.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # the stack's parts are those of its tests
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    print(finished.stdout, flush=True)
    return f"## {name}\n\n```text\n{finished.stdout}```\n"


if __name__ == "__main__":
    main()
