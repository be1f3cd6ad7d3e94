"""The cost of evaluating a run: record files, compared with only reading them.

One million records of 20 IDs, about 400 bytes each, a population of one million, a resolver of 300,000 objects of four
strings each. The selected object of each record is drawn at random, so its strings are in no cache. Records lie in the
order of the population. Verdicts are complete: every check, the population, ranks for the diagnostics.

Ratios are CPU time over the reader's CPU time, contenders in turn, one thread each: ``orjson.loads`` of every line,
and ``pyarrow.parquet.read_table`` of the columns. Opening the declaration (hashes, a resolver of 26 MB, the
population) does not grow with the records; it is timed by itself, and once more within the whole command.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import orjson
import pyarrow as pa  # type: ignore[import-untyped] # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types

from rop_otel.core.profile.population import write_population
from rop_otel.core.profile.resolver import Resolver
from rop_otel.core.profile.sealing import Decisions
from rop_otel.evaluation.declaration_reader import read_declaration
from rop_otel.evaluation.declaration_writer import write_folder
from rop_otel.evaluation.record_files import evaluate_files, report_of

_T = TypeVar("_T")

OBJECTS, IDS, GIB = 300_000, 20, 1024**3
TARGETS = {"evaluate_over_orjson": 3.0, "parquet_over_pyarrow": 1.6, "peak_gib": 1.2, "command_over_orjson": 4.0}
COLUMNS = ["record_id", "selected", "ids"]
SCHEMA = pa.schema([("record_id", pa.string()), ("selected", pa.string()), ("ids", pa.list_(pa.string()))])
DECISIONS = Decisions(
    declaration_id="benchmark",
    interface="ranker",
    interface_version="v1",
    specification="ranker",
    component="ranker",
    mode="hard",
    authority="benchmark",
    producer="ranker",
    revision="1",
    selection_field="selected",
    output_field="ids",
    cutoff=5,
    rule="any",
)


def main() -> None:
    """Generate, measure and print; the last line is one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also read the records ten times over, for the memory")
    parser.add_argument("--generate", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.generate is not None:
        generate(asked.generate, asked.records)
        return
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what making the data leaves behind would lie between what is measured.
        subprocess.run([sys.executable, __file__, "--generate", name, "--records", str(asked.records)], check=True)
        results = measure(folder, asked.records, asked.rounds, large=asked.large)
    print(json.dumps({key: round(value, 3) for key, value in results.items()}))


def generate(folder: Path, records: int) -> None:
    """Write the declaration, and the records in both formats."""
    rnd = random.Random(7)
    names = [f"page-{number:06d}" for number in range(OBJECTS)]
    resolver = Resolver(
        {name: [f"{name}#0", f"{name}#1"] for name in names},
        aliases={name: [f"/wiki/{name[5:]}"] for name in names},
        version="corpus-7",
    )
    population = write_population([f"rec-{number:08d}" for number in range(records)])
    sealed = (resolver, ("resolver.json", resolver.to_bytes()))
    write_folder(str(folder / "sealed"), DECISIONS, resolver=sealed, population=population)
    with (
        open(folder / "records.jsonl", "wb") as lines,
        pq.ParquetWriter(folder / "records.parquet", SCHEMA) as rows,
    ):
        for first in range(0, records, 50_000):
            block = [_record(rnd, number) for number in range(first, min(first + 50_000, records))]
            lines.writelines(orjson.dumps(record) + b"\n" for record in block)
            rows.write_table(pa.Table.from_pylist(block, schema=SCHEMA))


def _record(rnd: random.Random, number: int) -> dict[str, object]:
    selected = rnd.randrange(OBJECTS)
    ids = [f"page-{rnd.randrange(OBJECTS):06d}#{rnd.randrange(2)}" for _ in range(IDS)]
    if rnd.random() < 0.8:
        ids[rnd.randrange(IDS)] = f"page-{selected:06d}#{rnd.randrange(2)}"
    return {"record_id": f"rec-{number:08d}", "selected": f"/wiki/{selected:06d}", "ids": ids}


def measure(folder: Path, records: int, rounds: int, *, large: bool) -> dict[str, float]:
    """Return the ratios and the peak."""
    declaration, lines, parquet = (
        folder / name for name in ("sealed/declaration.json", "records.jsonl", "records.parquet")
    )
    opening, opened = _timed(lambda: read_declaration(str(declaration)))

    def evaluate(file: Path) -> object:
        return report_of(opened, evaluate_files(opened, [str(file)])).run_status

    def parse() -> None:
        with open(lines, "rb") as stream:
            for line in stream:
                orjson.loads(line)

    contenders: dict[str, Callable[[], object]] = {
        "orjson.loads": parse,
        "evaluate, JSON Lines": lambda: evaluate(lines),
        "pyarrow read_table": lambda: pq.read_table(parquet, columns=COLUMNS, use_threads=False),
        "evaluate, Parquet": lambda: evaluate(parquet),
    }
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            taken[name].append(_timed(call)[0])
    seconds = {name: statistics.median(times) for name, times in taken.items()}
    for name, value in (*seconds.items(), ("opening the declaration", opening)):
        print(f"  {name:<28}{value:>8.2f} s CPU{value / records * 1e6:>8.2f} us a record")
    whole, peak = _command(declaration, [lines])
    results = {
        "evaluate_over_orjson": seconds["evaluate, JSON Lines"] / seconds["orjson.loads"],
        "parquet_over_pyarrow": seconds["evaluate, Parquet"] / seconds["pyarrow read_table"],
        "peak_gib": peak,
        "command_over_orjson": whole / seconds["orjson.loads"],
    }
    if large:
        results["peak_gib_of_ten_times_the_records"] = _command(declaration, [lines] * 10)[1]
    for name, value in results.items():
        target = TARGETS.get(name)
        print(f"  {name:<36}{value:>8.2f}" + ("" if target is None else f"   target <= {target}"))
    return results


def _timed(call: Callable[[], _T]) -> tuple[float, _T]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _command(declaration: Path, files: list[Path]) -> tuple[float, float]:
    """Return CPU seconds and peak GiB of the command in a process of its own, with its bytecode as installed.

    It runs twice: where nothing writes bytecode, compiling every module anew would be a tenth of what is measured.
    """
    # The peak of resource.getrusage is inherited from whoever starts a process; that of the memory map is not.
    script = "import time; from rop_otel.cli.main import app; app(standalone_mode=False); s = open('/proc/self/status')"
    report = "; print(time.process_time(), next(line for line in s if line.startswith('VmHWM')).split()[1])"
    command = [sys.executable, "-c", script + report, "evaluate", str(declaration)]
    given = ["--no-records", "--records", *map(str, files)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(declaration.parents[1] / "bytecode")
    for _ in range(2):
        done = subprocess.run([*command, *given], check=True, capture_output=True, text=True, env=environment)
    output = done.stdout
    seconds, peak = output.splitlines()[-1].split()
    return float(seconds), float(peak) * 1024 / GIB


if __name__ == "__main__":
    main()
