"""A sealed folder on disk, handoffs of its run, and what ``evaluate`` says of the same records."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rop_otel as rop
from rop_otel.core.profile.sealing import DECLARATION_FILE
from rop_otel.evaluation.declaration_reader import read_declaration
from rop_otel.evaluation.external_sort import ExternalSort
from rop_otel.evaluation.record_files import evaluate_files, report_of
from rop_otel.evaluation.run_report_json import report_lines
from tests.core.profile.declared import files

COMMAND = [sys.executable, "-c", "from rop_otel.cli.main import main; main()"]


def sealed(folder: Path, **decided: Any) -> Path:
    """Write the declaration of the made-up run and return its place."""
    folder.mkdir(exist_ok=True)
    for name, data in files(**decided).items():
        (folder / name).write_bytes(data)
    return folder / DECLARATION_FILE


def answer(record_id: str | None, selected: object, ids: Sequence[str], **told: Any) -> rop.Assessment:
    """Run one handoff of two stages."""
    with rop.handoff("qa", record_id=record_id, **told) as handoff:
        if selected is not ...:
            handoff.select(selected)
        with rop.using_stage("vector") as stage:
            stage.returned(list(ids))
        with rop.using_stage("packing") as stage:
            stage.returned(list(ids))
    return handoff.assessment


def evaluated(declaration: Path, records: Path) -> bytes:
    """Return the JSON report that ``evaluate`` makes of a file of records."""
    opened = read_declaration(str(declaration))
    with ExternalSort() as in_order:
        tally = evaluate_files(opened, [str(records)], keep=in_order.add)
        return b"".join(report_lines(report_of(opened, tally), in_order))


def command(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the real command."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, timeout=300, check=False)
