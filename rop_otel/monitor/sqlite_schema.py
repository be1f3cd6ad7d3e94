"""The tables of the SQLite store, and how those of an older version become these."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Final

from rop_otel.errors import ConfigurationError

_APPLICATION_ID: Final = 0x524F5053
"""Marks a file as ours ("ROPS"), so that no other database is written to."""

_VERSION: Final = 2

PRIVATE: Final = 0o600
"""The permissions of the files: spans may hold text."""

_SPANS: Final = """
CREATE TABLE spans (
  id INTEGER PRIMARY KEY, trace_id TEXT NOT NULL, open INTEGER NOT NULL, payload BLOB NOT NULL, waiting_ns INTEGER);
CREATE INDEX spans_by_trace ON spans (trace_id);
CREATE INDEX spans_open ON spans (id) WHERE open;
CREATE INDEX spans_waiting ON spans (waiting_ns) WHERE waiting_ns IS NOT NULL;
CREATE TABLE members (
  handoff_id TEXT NOT NULL, trace_id TEXT NOT NULL, PRIMARY KEY (handoff_id, trace_id)) WITHOUT ROWID;
CREATE INDEX members_by_trace ON members (trace_id);
"""

# A handoff is known by the nanosecond at which it was settled, which no other has: so all order is that of the key.
# What is looked for stands apart from what is shown, which is ten times as long.
_HANDOFFS: Final = """
CREATE TABLE handoffs (
  settled INTEGER PRIMARY KEY, handoff_id TEXT NOT NULL, trace_id TEXT NOT NULL, name TEXT NOT NULL,
  service TEXT NOT NULL, run TEXT NOT NULL, verdict TEXT NOT NULL, at TEXT, cause TEXT NOT NULL,
  record TEXT, ids TEXT NOT NULL, objects TEXT NOT NULL, declared INTEGER NOT NULL, total INTEGER);
CREATE UNIQUE INDEX handoffs_by_id ON handoffs (handoff_id);
CREATE INDEX handoffs_by_trace ON handoffs (trace_id);
CREATE INDEX handoffs_by_name ON handoffs (name);
CREATE INDEX handoffs_by_service ON handoffs (service);
CREATE INDEX handoffs_by_run ON handoffs (run) WHERE run != '-';
CREATE INDEX handoffs_by_record ON handoffs (run, record, declared);
CREATE INDEX handoffs_by_verdict ON handoffs (verdict);
CREATE INDEX handoffs_by_place ON handoffs (at) WHERE at IS NOT NULL;
CREATE INDEX handoffs_by_cause ON handoffs (cause) WHERE cause != '-';
CREATE TABLE shown (settled INTEGER PRIMARY KEY, row BLOB NOT NULL, sums BLOB NOT NULL, observation BLOB);
CREATE TABLE findings (finding TEXT NOT NULL, settled INTEGER NOT NULL, PRIMARY KEY (finding, settled)) WITHOUT ROWID;
CREATE TABLE hours (hour INTEGER PRIMARY KEY, sums BLOB NOT NULL);
CREATE TABLE totals (
  id INTEGER PRIMARY KEY, hour INTEGER NOT NULL, name TEXT NOT NULL, service TEXT NOT NULL, run TEXT NOT NULL,
  sums BLOB NOT NULL, UNIQUE (hour, name, service, run));
CREATE TABLE runs (
  run TEXT PRIMARY KEY, handoffs INTEGER NOT NULL, records INTEGER NOT NULL, declared INTEGER NOT NULL,
  verdicts TEXT NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX runs_by_last ON runs (last);
CREATE TABLE stale (trace_id TEXT PRIMARY KEY, settled INTEGER NOT NULL) WITHOUT ROWID;
"""

_MIGRATIONS: Final = {
    # Rows and totals need what only an assessment says: every trace is settled again, as of then.
    1: f"""
ALTER TABLE spans ADD COLUMN waiting_ns INTEGER;
CREATE INDEX spans_waiting ON spans (waiting_ns) WHERE waiting_ns IS NOT NULL;
ALTER TABLE handoffs RENAME TO handoffs_1;
DROP TABLE findings;
DROP INDEX handoffs_by_verdict;
DROP INDEX handoffs_by_cause;
DROP INDEX handoffs_by_record;
DROP INDEX handoffs_by_trace;
{_HANDOFFS}
INSERT INTO stale SELECT trace_id, min(kept_ns) FROM handoffs_1 GROUP BY trace_id;
DROP TABLE handoffs_1;
""",
}
"""What makes the tables of the version after each older one."""


def make_private(path: str) -> None:
    """Make the file, where it is not there, for nobody else to read; what SQLite puts beside it is made alike.

    Raises:
        ConfigurationError: It cannot be made.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE))
    except OSError as error:
        raise ConfigurationError(f"{path!r} cannot be used as a store ({error.strerror})") from error


def check(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that is not ours, or is of a newer version, without a change to it.

    Raises:
        ConfigurationError: It is so.
    """
    version = _version(connection)
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and owner != _APPLICATION_ID:
        raise ConfigurationError(f"{path!r} is a database of something else; name another file for the store")
    if version > _VERSION:
        raise ConfigurationError(
            f"{path!r} was written by a newer version (schema {version}, this one knows {_VERSION})"
        )


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables, or bring those of an older version up to date after a copy of the file is made.

    The copy has the name of the file with ``.v1`` after it, for version 1.

    Raises:
        ConfigurationError: The copy cannot be written.
    """
    version = _version(connection)
    if version == _VERSION:
        return
    steps = [_SPANS + _HANDOFFS] if version == 0 else [_MIGRATIONS[step] for step in range(version, _VERSION)]
    if version:
        _copy(connection, path, f"{path}.v{version}")
    connection.executescript(
        f"BEGIN EXCLUSIVE;{''.join(steps)}PRAGMA application_id = {_APPLICATION_ID};"
        f"PRAGMA user_version = {_VERSION};COMMIT;"
    )


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _copy(connection: sqlite3.Connection, path: str, name: str) -> None:
    """Write a copy; one of that name is there only when it is complete."""
    try:
        make_private(f"{name}.part")
        with closing(sqlite3.connect(f"{name}.part")) as copy:
            connection.backup(copy)
        os.replace(f"{name}.part", name)
    except (OSError, sqlite3.Error, ConfigurationError) as error:
        raise ConfigurationError(f"{path!r} is of an older version, and its copy {name!r} cannot be written") from error
