"""A store that an older version wrote."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.monitor.store import Wanted
from tests.monitor.expected import expected
from tests.monitor.kept import Kept
from tests.spans.trace import handoff, pipeline

VERSION_1 = """
CREATE TABLE spans (id INTEGER PRIMARY KEY, trace_id TEXT NOT NULL, open INTEGER NOT NULL, payload BLOB NOT NULL);
CREATE INDEX spans_by_trace ON spans (trace_id);
CREATE INDEX spans_open ON spans (id) WHERE open;
CREATE TABLE members (
  handoff_id TEXT NOT NULL, trace_id TEXT NOT NULL, PRIMARY KEY (handoff_id, trace_id)) WITHOUT ROWID;
CREATE INDEX members_by_trace ON members (trace_id);
CREATE TABLE handoffs (
  handoff_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, name TEXT NOT NULL, service TEXT, record_id TEXT, run_id TEXT,
  verdict TEXT NOT NULL, dropped_at TEXT, dropped_at_name TEXT, drop_cause TEXT,
  start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, assessment BLOB NOT NULL, kept_ns INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE INDEX handoffs_by_start ON handoffs (start_ns, handoff_id);
CREATE INDEX handoffs_by_age ON handoffs (kept_ns);
CREATE INDEX handoffs_by_verdict ON handoffs (verdict, start_ns, handoff_id);
CREATE INDEX handoffs_by_cause ON handoffs (drop_cause, start_ns, handoff_id) WHERE drop_cause IS NOT NULL;
CREATE INDEX handoffs_by_record ON handoffs (record_id) WHERE record_id IS NOT NULL;
CREATE INDEX handoffs_by_trace ON handoffs (trace_id);
CREATE TABLE findings (
  code TEXT NOT NULL, handoff_id TEXT NOT NULL, place INTEGER NOT NULL, stage TEXT,
  PRIMARY KEY (code, handoff_id, place)) WITHOUT ROWID;
CREATE INDEX findings_by_handoff ON findings (handoff_id);
PRAGMA application_id = 1380929619;
PRAGMA user_version = 1;
"""
HOUR = 3_600_000_000_000
OPEN = f"{99:032x}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store of version 1 with three handoffs, settled an hour apart, and a trace that is still open."""
    file = tmp_path / "kept.db"
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.executescript(VERSION_1)
        for number in (1, 2, 3):
            trace = f"{number:032x}"
            spans = pipeline(trace=trace)
            handoff_id = f"{trace}-{1:016x}"
            writer.execute(
                "INSERT INTO spans (trace_id, open, payload) VALUES (?, 0, ?)", (trace, msgspec.msgpack.encode(spans))
            )
            writer.execute("INSERT INTO members VALUES (?, ?)", (handoff_id, trace))
            writer.execute(
                "INSERT INTO handoffs VALUES (?, ?, 'qa', NULL, NULL, NULL, 'FAIL', 'packing', NULL, 'over_budget',"
                " 1, 90, '{}', ?)",
                (handoff_id, trace, number * HOUR),
            )
            writer.execute("INSERT INTO findings VALUES ('silent_cut', ?, 0, 'mmr')", (handoff_id,))
        waiting = msgspec.msgpack.encode([handoff(1, "d1", trace=OPEN)])
        writer.execute("INSERT INTO spans (trace_id, open, payload) VALUES (?, 1, ?)", (OPEN, waiting))
    return file


def test_version_1(file: Path) -> None:
    """Its handoffs are settled again as of when they were, and no counter counts them; open spans stay open."""
    before = _everything(file)
    kept = Kept(file)
    assert (kept.rows(), [span.trace_id for span in kept.store.open_spans()]) == ([], [OPEN])
    kept.monitor.work()
    rows = kept.rows()
    assert [row["trace_id"] for row in rows] == [f"{number:032x}" for number in (3, 2, 1)]
    assert [start for start, _ in kept.store.sums(Wanted())] == [HOUR, 2 * HOUR, 3 * HOUR]
    assert kept.monitor.kept.summary(Wanted())["summary"]["verdicts"] == {"FAIL": 3}
    assert kept.documents() == expected([span for number in (1, 2, 3) for span in pipeline(trace=f"{number:032x}")])
    assert kept.counted() == 0
    assert kept.store.stale(10) == []
    kept.monitor.close()
    assert _everything(Path(f"{file}.v1")) == before, "the copy is the file as it was"
    assert sorted(each.name for each in file.parent.iterdir()) == ["kept.db", "kept.db-lock", "kept.db.v1"]


def test_a_service_that_is_killed_on_the_way(file: Path) -> None:
    """The next one goes on with what is left."""
    store = SqliteStore(str(file))
    assert len(store.stale(10)) == 3
    store.close()
    kept = Kept(file)
    kept.monitor.work()
    assert len(kept.rows()) == 3
    kept.monitor.close()


def test_late_spans_of_an_old_trace(file: Path) -> None:
    """They are settled with it, once, as spans that are late."""
    kept = Kept(file)
    trace = f"{2:032x}"
    late = pipeline(20, trace=trace)
    kept.monitor.submit(late, size=10)
    kept.monitor.work()
    kept.wait()
    kept.monitor.work()
    assert len(kept.rows()) == 5
    assert kept.store.stale(10) == []
    assert kept.monitor.kept.summary(Wanted())["handoffs"] == 5
    kept.monitor.close()


def test_no_room_for_a_copy(file: Path) -> None:
    """It is refused in a sentence, and left as it is."""
    before = _everything(file)
    Path(f"{file}.v1").mkdir()
    with pytest.raises(ConfigurationError, match="older version"):
        SqliteStore(str(file))
    assert _everything(file) == before


def test_it_can_be_exported(file: Path) -> None:
    """Reading changes nothing."""
    before = _everything(file)
    store = SqliteStore(str(file), only_read=True)
    assert sum(map(len, store.settled_spans())) == 18
    store.close()
    assert _everything(file) == before


def _everything(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as reader:
        return list(reader.iterdump())
