"""The kept handoffs in Parquet, which evaluate reads as records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types
from typer.testing import CliRunner

from rop_otel.cli.main import app
from rop_otel.evaluation.record_files import evaluate_files, report_of
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.replay import replay
from tests.core.profile.declared import opened
from tests.monitor.kept import Kept
from tests.replay.test_recorded_run import trip
from tests.spans.trace import pipeline


def test_a_round_trip(keep: Callable[..., Kept], tmp_path: Path) -> None:
    """Evaluate gives each record the verdict that the monitor gave its handoff under the same declaration."""
    kept = keep(declaration=opened())
    for spans in (trip(1, "r1", "x", "a#1"), trip(11, "r2", "x", "y", "z", "a#0"), trip(21, "r3")):
        kept.send(*spans)
        kept.wait()
    file = tmp_path / "handoffs.parquet"
    result = CliRunner().invoke(app, ["export", kept.store_file, "--format", "parquet", "--output", str(file)])
    assert result.exit_code == 0, result.output
    found = pq.read_table(file).to_pylist()
    assert [(each["record_id"], each["verdict"]) for each in found] == [
        (row["record_id"], row["verdict"]) for row in kept.rows()
    ]
    assert (found[2]["selected"], found[2]["ids"], found[2]["judged"]) == (["obj-a"], ["x", "a#1"], None)
    report = report_of(opened(), evaluate_files(opened(), [str(file)])).as_dict()
    expected = replay(kept.sent, declaration=opened()).as_dict()["run"]
    assert (report["verdicts"], report["run_status"]) == (expected["verdicts"], expected["run_status"])


def test_nothing_is_kept(tmp_path: Path) -> None:
    """The file has no rows; without a name for it, it is refused in a sentence."""
    store = str(tmp_path / "kept.db")
    SqliteStore(store).close()
    file = tmp_path / "handoffs.parquet"
    assert CliRunner().invoke(app, ["export", store, "--format", "parquet", "--output", str(file)]).exit_code == 0
    assert pq.read_table(file).num_rows == 0
    assert "--output" in str(CliRunner().invoke(app, ["export", store, "--format", "parquet"]).exception)


def test_several_handoffs_of_a_trace(keep: Callable[..., Kept], tmp_path: Path) -> None:
    """Each has its row."""
    kept = keep()
    kept.send(*[each for number in range(1, 100, 20) for each in pipeline(number)])
    kept.wait()
    file = tmp_path / "handoffs.parquet"
    CliRunner().invoke(app, ["export", kept.store_file, "--format", "parquet", "--output", str(file)])
    assert [each["handoff_id"] for each in pq.read_table(file).to_pylist()] == [
        row["handoff_id"] for row in kept.rows()
    ]
