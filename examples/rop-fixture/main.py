"""The synthetic fixture of ROP: it shows what a pass fraction hides, and which status each kind of fault gives."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROP_OTEL = Path(sys.executable).with_name("rop-otel")
DECISIONS = (
    "--interface fixture-ranker-api --interface-version v1 --component ranker --authority search-team"
    " --selection selector.selected_key --returned results[].object_id --cutoff 3 --rule any"
    " --resolver resolver.json --population population.txt"
).split()
PROMPT = "Pick one object. This prompt is provenance and decides nothing. Mode: open."
RESOLVER = {
    "resolver_version": "corpus-7",
    "objects": {
        "obj-a": {"members": ["a#0", "a#1"], "aliases": ["/wiki/A"]},
        "obj-b": {"members": ["b#0"], "aliases": ["/wiki/B"]},
    },
}


def record(name: str, key: str, *returned: str) -> dict[str, Any]:
    """Return a record as the pipeline logs it."""
    results = [{"object_id": each} for each in returned]
    return {"record_id": name, "selector": {"selected_key": key}, "results": results}


ALPHA = record("run_alpha", "/wiki/A", "b#0", "a#1")
BETA = record("run_beta", "/wiki/B", "b#0")
ABSENT = record("run_beta", "/wiki/B", "a#0", "a#1")
UNLOGGED = {key: value for key, value in BETA.items() if key != "results"}


def rop_otel(folder: Path, *arguments: str) -> str:
    """Run the command in a folder; its exit code is the run's status, so only a usage error is one."""
    finished = subprocess.run([ROP_OTEL, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if finished.returncode == 2:
        raise SystemExit(finished.stderr)
    return finished.stdout


def evaluate(folder: Path, sealed: str, *records: dict[str, Any]) -> dict[str, Any]:
    """Return the report of these records."""
    (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    declaration = f"{sealed}/declaration.json"
    report: dict[str, Any] = json.loads(
        rop_otel(folder, "evaluate", declaration, "--records", "records.jsonl", "--format", "json")
    )
    return report


def main() -> None:
    """Declare the fixture twice, hard and soft, and print both tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "resolver.json").write_text(json.dumps(RESOLVER))
        (folder / "population.txt").write_text("run_alpha\nrun_beta\n")
        for mode in ("hard", "soft"):
            rop_otel(folder, "declare", mode, *DECISIONS, "--mode", mode, "--id", f"fixture-{mode}", "--prompt", PROMPT)

        print("Case         Expected  Observed  Pass  Pass fraction  Run status")
        for case, records in (("Complete", (ALPHA, BETA)), ("One missing", (ALPHA,))):
            report = evaluate(folder, "hard", *records)
            passed, fraction = report["verdicts"]["PASS"], report["pass_fraction"]
            counts = f"{report['expected']:>8}  {report['observed']:>8}  {passed:>4}  {fraction:>13}"
            print(f"{case:<11}  {counts}  {report['run_status']}")

        print("\nObserved condition                  Record accounting         Run status")
        for condition, sealed, observed in (
            ("Requirement inactive", "soft", (ALPHA, BETA)),
            ("Target returned in a complete run", "hard", (ALPHA, BETA)),
            ("Target absent", "hard", (ALPHA, ABSENT)),
            ("Returned IDs missing or malformed", "hard", (ALPHA, UNLOGGED)),
            ("Expected record missing", "hard", (ALPHA,)),
            ("Duplicate record ID", "hard", (ALPHA, BETA, BETA)),
            ("Unexpected record ID", "hard", (ALPHA, BETA, record("run_gamma", "obj-a", "a#0"))),
        ):
            report = evaluate(folder, sealed, *observed)
            print(f"{condition:<34}  {accounting(report):<24}  {report['run_status']}")


def accounting(report: dict[str, Any]) -> str:
    """Return what stands out in a report's accounts."""
    for kind in ("duplicate", "unexpected", "missing"):
        if found := report[f"{kind}_record_ids"]:
            return f"{kind}: {', '.join(found)}"
    verdicts = {name: count for name, count in report["verdicts"].items() if count}
    return next((name for name in verdicts if name != "PASS"), "PASS")


if __name__ == "__main__":
    main()
