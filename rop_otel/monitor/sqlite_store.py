"""The store in one SQLite file, in WAL mode."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import msgspec

from rop_otel.errors import ConfigurationError
from rop_otel.monitor.store import Page, Settled, StoredHandoff, Wanted
from rop_otel.spans import Span

if sys.platform != "win32":  # where two services that share a file are not kept apart
    from fcntl import LOCK_EX, LOCK_NB, flock

_APPLICATION_ID: Final = 0x524F5053
"""Marks a file as ours ("ROPS"), so that no other database is written to."""

_PRIVATE: Final = 0o600
"""The permissions of the files: spans may hold text."""

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE spans (
  id INTEGER PRIMARY KEY, trace_id TEXT NOT NULL, open INTEGER NOT NULL, waiting_ns INTEGER, payload BLOB NOT NULL);
CREATE INDEX spans_by_trace ON spans (trace_id);
CREATE INDEX spans_open ON spans (id) WHERE open;
CREATE INDEX spans_waiting ON spans (waiting_ns) WHERE waiting_ns IS NOT NULL;
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
"""
_COLUMNS: Final = (
    "handoff_id",
    "trace_id",
    "name",
    "service",
    "record_id",
    "run_id",
    "verdict",
    "dropped_at",
    "dropped_at_name",
    "drop_cause",
    "start_ns",
    "duration_ns",
)
_LISTED: Final = ", ".join(_COLUMNS)
_SAVE: Final = (
    f"INSERT OR REPLACE INTO handoffs ({_LISTED}, assessment, kept_ns) VALUES ({', '.join('?' * (len(_COLUMNS) + 2))})"
)
_RELATED: Final = (
    "SELECT other.trace_id FROM members JOIN members AS other USING (handoff_id) WHERE members.trace_id = ?"
)
_KEPT: Final = "SELECT payload FROM spans WHERE trace_id = ? ORDER BY id"
_SETTLED: Final = "SELECT payload FROM spans WHERE trace_id = ? AND NOT open ORDER BY id"
_OLDEST: Final = """
SELECT handoff_id, trace_id FROM (
  SELECT * FROM (
    SELECT kept_ns, handoff_id, trace_id FROM handoffs WHERE kept_ns < :before ORDER BY kept_ns LIMIT :limit)
  UNION ALL SELECT * FROM (
    SELECT DISTINCT waiting_ns, NULL, trace_id FROM spans WHERE waiting_ns < :before ORDER BY waiting_ns LIMIT :limit))
ORDER BY kept_ns LIMIT :limit"""
"""Handoffs, and traces that wait for one, the oldest first."""

_BUSY_SECONDS: Final = 5.0

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(list[Span])


class SqliteStore:
    """Keeps everything in one file; see :class:`~rop_otel.monitor.store.Store`.

    Args:
        path: The file; made where it is not there.
        only_read: Whether it is there already, and is only read; another service may write to it meanwhile.

    Raises:
        ConfigurationError: It cannot be opened, is damaged, is locked, belongs to somebody else, or was written by a
            newer version. The file is left as it is.
    """

    def __init__(self, path: str, *, only_read: bool = False) -> None:
        if only_read and not os.path.isfile(path):
            raise ConfigurationError(f"{path!r} is no file")
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._claim = None if only_read else _claimed(path)
        try:
            if not only_read:
                _make(path)
            self._writer = self._open()
            self._check(self._writer)
            if not only_read:
                self._prepare(self._writer)
        except ConfigurationError:
            self.close()
            raise
        except sqlite3.Error as error:
            self.close()
            raise ConfigurationError(f"{path!r} cannot be used as a store ({error})") from error

    def spool(self, spans: Sequence[Span]) -> None:
        """Keep spans whose handoffs are still open."""
        by_trace: dict[str, list[Span]] = {}
        for span in spans:
            by_trace.setdefault(span.trace_id, []).append(span)
        rows = [(trace_id, 1, _ENCODER.encode(own)) for trace_id, own in by_trace.items()]
        with self._transaction() as writer:
            writer.executemany("INSERT INTO spans (trace_id, open, payload) VALUES (?, ?, ?)", rows)

    def settle(self, traces: Sequence[Settled]) -> None:
        """Keep what traces amount to."""
        with self._transaction() as writer:
            for settled in traces:
                _settle(writer, settled)

    def open_spans(self) -> Iterator[Span]:
        """Yield the spans that are still open."""
        for (payload,) in self._reader().execute("SELECT payload FROM spans WHERE open ORDER BY id"):
            yield from _DECODER.decode(payload)

    def settled_spans(self) -> Iterator[list[Span]]:
        """Yield the spans of settled traces, some at a time."""
        for (payload,) in self._reader().execute("SELECT payload FROM spans WHERE NOT open ORDER BY id"):
            yield _DECODER.decode(payload)

    def spans_of(self, traces: Sequence[str], handoffs: Sequence[str], *, unsettled: bool = False) -> list[Span]:
        """Return the kept spans of settled traces, and of those that settled handoffs are in."""
        reader = self._reader()
        related: dict[str, None] = {}
        ahead = [*traces]
        for handoff_id in handoffs:
            ahead += _column(reader, "SELECT trace_id FROM members WHERE handoff_id = ?", handoff_id)
        while ahead:
            trace_id = ahead.pop()
            if trace_id in related:
                continue
            related[trace_id] = None
            ahead += _column(reader, _RELATED, trace_id)
        spans: list[Span] = []
        for trace_id in related:
            for payload in _column(reader, _KEPT if unsettled else _SETTLED, trace_id):
                spans += _DECODER.decode(payload)
        return spans

    def handoffs(self, wanted: Wanted, *, limit: int, after: str | None = None) -> Page:
        """Return a page of handoffs."""
        conditions, values = _conditions(wanted)
        if after is not None:
            start, separator, handoff_id = after.partition(",")
            if not separator or not start.lstrip("-").isdecimal():
                raise ValueError(f"not a page: {after[:80]!r}")
            conditions.append("(start_ns, handoff_id) < (?, ?)")
            values += [int(start), handoff_id]
        query = f"SELECT {_LISTED} FROM handoffs{_where(conditions)} ORDER BY start_ns DESC, handoff_id DESC LIMIT ?"
        rows = self._reader().execute(query, (*values, limit + 1)).fetchall()
        found = self._with_findings([StoredHandoff(**dict(zip(_COLUMNS, row, strict=True))) for row in rows[:limit]])
        last = found[-1] if len(rows) > limit else None
        return Page(handoffs=tuple(found), after=None if last is None else f"{last.start_ns},{last.handoff_id}")

    def handoff(self, handoff_id: str) -> StoredHandoff | None:
        """Return one handoff with its assessment."""
        query = f"SELECT {_LISTED}, assessment FROM handoffs WHERE handoff_id = ?"
        row = self._reader().execute(query, (handoff_id,)).fetchone()
        if row is None:
            return None
        found = StoredHandoff(**dict(zip(_COLUMNS, row[:-1], strict=True)), assessment=msgspec.json.decode(row[-1]))
        return self._with_findings([found])[0]

    def counts(self, wanted: Wanted) -> dict[str, int]:
        """Return how many handoffs have each verdict."""
        conditions, values = _conditions(wanted)
        query = f"SELECT verdict, count(*) FROM handoffs{_where(conditions)} GROUP BY verdict"
        return dict(self._reader().execute(query, values))

    def forget(self, *, before_ns: int, max_bytes: int | None = None, limit: int = 1000) -> int:
        """Delete the oldest handoffs and their spans."""
        reader = self._reader()
        if max_bytes is not None and self._used_bytes(reader) > max_bytes:
            before_ns = sys.maxsize
        old = reader.execute(_OLDEST, {"before": before_ns, "limit": limit}).fetchall()
        if not old:
            return 0
        with self._transaction() as writer:
            return sum(_forget_whole(writer, *each) for each in old)

    def close(self) -> None:
        """Close the file."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _with_findings(self, handoffs: Sequence[StoredHandoff]) -> list[StoredHandoff]:
        ids = [each.handoff_id for each in handoffs]
        query = f"SELECT handoff_id, code, stage FROM findings WHERE handoff_id IN ({_marks(ids)}) ORDER BY place"
        found: dict[str, list[tuple[str, str | None]]] = {}
        for handoff_id, code, stage in self._reader().execute(query, ids):
            found.setdefault(handoff_id, []).append((code, stage))
        return [replace(each, findings=tuple(found.get(each.handoff_id, ()))) for each in handoffs]

    def _used_bytes(self, reader: sqlite3.Connection) -> int:
        pages, free, size = (
            reader.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        self._connections.append(connection)
        return connection

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _check(self, writer: sqlite3.Connection) -> None:
        """Refuse what is not ours, without a change to it."""
        (version,) = writer.execute("PRAGMA user_version").fetchone()
        (owner,) = writer.execute("PRAGMA application_id").fetchone()
        (tables,) = writer.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and owner != _APPLICATION_ID:
            raise ConfigurationError(f"{self._path!r} is a database of something else; name another file for the store")
        if version > _VERSION:
            raise ConfigurationError(
                f"{self._path!r} was written by a newer version (schema {version}, this one knows {_VERSION})"
            )

    def _prepare(self, writer: sqlite3.Connection) -> None:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA synchronous = FULL")
        if writer.execute("PRAGMA user_version").fetchone() == (0,):
            writer.executescript(
                f"BEGIN EXCLUSIVE;{_SCHEMA}PRAGMA application_id = {_APPLICATION_ID};"
                f"PRAGMA user_version = {_VERSION};COMMIT;"
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:  # a full disk ends it
                self._writer.execute("ROLLBACK")
            raise


def _claimed(path: str) -> int | None:
    """Return a descriptor of the file beside the store that only one service holds; it ends with the process."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(f"{path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
    except OSError as error:
        raise ConfigurationError(f"{path!r} cannot be used as a store ({error.strerror})") from error
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ConfigurationError(f"{path!r} is the store of another monitor that runs; name another file") from None
    return descriptor


def _make(path: str) -> None:
    """Make the file, where it is not there, for nobody else to read; what SQLite puts beside it is made alike."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE))
    except OSError as error:
        raise ConfigurationError(f"{path!r} cannot be used as a store ({error.strerror})") from error


def _settle(writer: sqlite3.Connection, settled: Settled) -> None:
    marks = _marks(settled.traces)
    for (known,) in writer.execute(
        f"SELECT DISTINCT handoff_id FROM handoffs WHERE trace_id IN ({marks})", settled.traces
    ).fetchall():
        _forget(writer, known)
    if not (settled.handoffs or settled.waits):
        writer.execute(f"DELETE FROM spans WHERE trace_id IN ({marks})", settled.traces)
        return
    waiting_ns = None if settled.handoffs else settled.at_ns
    writer.execute(
        f"UPDATE spans SET open = 0, waiting_ns = ? WHERE trace_id IN ({marks})", (waiting_ns, *settled.traces)
    )
    members = {*settled.named, *(each.handoff_id for each in settled.handoffs)}
    writer.executemany(
        "INSERT OR IGNORE INTO members VALUES (?, ?)",
        [(handoff_id, trace_id) for handoff_id in sorted(members) for trace_id in settled.traces],
    )
    for each in settled.handoffs:
        values = [getattr(each, column) for column in _COLUMNS]
        writer.execute(_SAVE, (*values, msgspec.json.encode(each.assessment), settled.at_ns))
        writer.executemany(
            "INSERT INTO findings (code, handoff_id, place, stage) VALUES (?, ?, ?, ?)",
            [(code, each.handoff_id, place, stage) for place, (code, stage) in enumerate(each.findings)],
        )


def _forget(writer: sqlite3.Connection, handoff_id: str) -> None:
    for table in ("handoffs", "findings", "members"):
        writer.execute(f"DELETE FROM {table} WHERE handoff_id = ?", (handoff_id,))


def _forget_whole(writer: sqlite3.Connection, handoff_id: str | None, trace_id: str) -> bool:
    """Delete a handoff, and the traces that only it is in; False where more of them has come: they are settled anew."""
    traces = {trace_id, *_column(writer, "SELECT trace_id FROM members WHERE handoff_id = ?", handoff_id)}
    if any(_column(writer, "SELECT 1 FROM spans WHERE trace_id = ? AND open LIMIT 1", each) for each in traces):
        return False
    if handoff_id is not None:
        _forget(writer, handoff_id)
    for each in traces:
        _forget_spans(writer, each)
    return True


def _forget_spans(writer: sqlite3.Connection, trace_id: str) -> None:
    """Delete the spans of a trace that no handoff is left of."""
    left = "SELECT 1 FROM handoffs WHERE handoff_id IN (SELECT handoff_id FROM members WHERE trace_id = ?) LIMIT 1"
    if writer.execute(left, (trace_id,)).fetchone() is None:
        writer.execute("DELETE FROM spans WHERE trace_id = ?", (trace_id,))
        writer.execute("DELETE FROM members WHERE trace_id = ?", (trace_id,))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _column(reader: sqlite3.Connection, query: str, value: str | None) -> list[Any]:
    return [row[0] for row in reader.execute(query, (value,))]


def _conditions(wanted: Wanted) -> tuple[list[str], list[Any]]:
    exact = ("verdict", "dropped_at", "drop_cause", "name", "service", "record_id", "run_id")
    given = [(column, value) for column in exact if (value := getattr(wanted, column)) is not None]
    conditions = [f"{column} = ?" for column, _ in given]
    values: list[Any] = [value for _, value in given]
    if wanted.finding is not None:
        conditions.append("handoff_id IN (SELECT handoff_id FROM findings WHERE code = ?)")
        values.append(wanted.finding)
    if wanted.text:
        conditions.append("(instr(handoff_id, ?) OR instr(coalesce(record_id, ''), ?) OR instr(trace_id, ?))")
        values += [wanted.text] * 3
    return conditions, values


def _where(conditions: Iterable[str]) -> str:
    joined = " AND ".join(conditions)
    return f" WHERE {joined}" if joined else ""
