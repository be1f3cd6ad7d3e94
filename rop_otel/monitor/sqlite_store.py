"""The store in one SQLite file, in WAL mode."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from rop_otel.core.handoff.sums import Sums
from rop_otel.errors import ConfigurationError
from rop_otel.monitor.open_traces import by_trace
from rop_otel.monitor.sqlite_queries import observations_of, page_of, run_of, runs_of
from rop_otel.monitor.sqlite_schema import PRIVATE, check, make_private, prepare
from rop_otel.monitor.sqlite_totals import TotalsChange, choices_of, count_run, sums_of, uncount_run
from rop_otel.monitor.store import Page, Settled, StoredHandoff, StoredRun, Wanted
from rop_otel.spans import Span

if sys.platform != "win32":  # where two services that share a file are not kept apart
    from fcntl import LOCK_EX, LOCK_NB, flock

_COLUMNS: Final = (
    "settled, handoff_id, trace_id, name, service, run, verdict, at, cause, record, ids, objects, declared, total"
)
_SAVE: Final = f"INSERT INTO handoffs ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_KEPT: Final = (
    "SELECT settled, handoff_id, trace_id, run, verdict, record, declared, total, row, sums"
    " FROM handoffs JOIN shown USING (settled)"
)
_CLOSE_NS: Final = 1_000_000
"""Handoffs that are settled at once have times that are apart, within this."""

_TRACES: Final = "SELECT trace_id FROM members WHERE handoff_id = ?"
_MEMBERS: Final = "SELECT handoff_id FROM members WHERE trace_id = ?"
_ALL: Final = "SELECT payload FROM spans WHERE trace_id = ? ORDER BY id"
_SETTLED: Final = "SELECT payload FROM spans WHERE trace_id = ? AND NOT open ORDER BY id"
_OLDEST: Final = """
SELECT handoff_id, trace_id FROM (
  SELECT * FROM (
    SELECT settled, handoff_id, trace_id FROM handoffs WHERE settled < :before ORDER BY settled LIMIT :limit)
  UNION ALL SELECT * FROM (
    SELECT DISTINCT waiting_ns, NULL, trace_id FROM spans WHERE waiting_ns < :before ORDER BY waiting_ns LIMIT :limit))
ORDER BY settled LIMIT :limit"""
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
                make_private(path)
            self._writer = self._open()
            check(self._writer, path)
            if not only_read:
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute("PRAGMA synchronous = FULL")
                prepare(self._writer, path)
        except ConfigurationError:
            self.close()
            raise
        except sqlite3.Error as error:
            self.close()
            raise ConfigurationError(f"{path!r} cannot be used as a store ({error})") from error

    def spool(self, spans: Sequence[Span]) -> None:
        """Keep spans whose handoffs are still open."""
        rows = [(trace_id, 1, _ENCODER.encode(own)) for trace_id, own in by_trace(spans).items()]
        with self._transaction() as writer:
            writer.executemany("INSERT INTO spans (trace_id, open, payload) VALUES (?, ?, ?)", rows)

    def settle(self, traces: Sequence[Settled]) -> None:
        """Keep what traces amount to."""
        with self._transaction() as writer:
            change = TotalsChange(writer)
            for settled in traces:
                _settle(writer, settled, change)
            change.write()

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
        spans: list[Span] = []
        for trace_id in _related(reader, traces, handoffs):
            for payload in _column(reader, _ALL if unsettled else _SETTLED, trace_id):
                spans += _DECODER.decode(payload)
        return spans

    def stale(self, limit: int) -> list[tuple[str, int]]:
        """Return traces that an older version has settled."""
        return self._reader().execute("SELECT trace_id, settled FROM stale LIMIT ?", (limit,)).fetchall()

    def trace_of(self, handoff_id: str) -> str | None:
        """Return the trace of a handoff that is kept."""
        row = self._reader().execute("SELECT trace_id FROM handoffs WHERE handoff_id = ?", (handoff_id,)).fetchone()
        return None if row is None else row[0]

    def handoffs(self, wanted: Wanted, *, limit: int, after: str | None = None) -> Page:
        """Return a page of handoffs."""
        return page_of(self._reader(), wanted, limit=limit, after=after)

    def sums(self, wanted: Wanted) -> Iterator[tuple[int, Sums]]:
        """Yield what handoffs add up to, with the start of the hour."""
        return sums_of(self._reader(), wanted)

    def choices(self, wanted: Wanted, *, limit: int) -> dict[str, list[str]]:
        """Return names, services and runs of handoffs."""
        return choices_of(self._reader(), wanted, limit)

    def runs(self, limit: int) -> list[StoredRun]:
        """Return the runs, the one of the handoff that was settled last first."""
        return runs_of(self._reader(), limit)

    def run(self, run_id: str) -> StoredRun | None:
        """Return one run; None where no handoff of it is kept."""
        return run_of(self._reader(), run_id)

    def observations_of(self, run_id: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the records of a run, each with its time."""
        return observations_of(self._reader(), run_id, after)

    def forget(self, *, before_ns: int, max_bytes: int | None = None, limit: int = 1000) -> int:
        """Delete the oldest handoffs and their spans."""
        reader = self._reader()
        if max_bytes is not None and self._used_bytes(reader) > max_bytes:
            before_ns = sys.maxsize
        old = reader.execute(_OLDEST, {"before": before_ns, "limit": limit}).fetchall()
        if not old:
            return 0
        with self._transaction() as writer:
            change = TotalsChange(writer)
            forgotten = sum(_forget_whole(writer, handoff_id, trace_id, change) for handoff_id, trace_id in old)
            change.write()
        return forgotten

    def close(self) -> None:
        """Close the file."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

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


def _related(reader: sqlite3.Connection, traces: Sequence[str], handoffs: Sequence[str]) -> list[str]:
    """Return traces, those of handoffs, and all that share a handoff with one of them."""
    ahead = [*((_MEMBERS, each) for each in traces), *((_TRACES, each) for each in handoffs)]
    found = dict.fromkeys(ahead)
    while ahead:
        query, name = ahead.pop()
        other = _TRACES if query == _MEMBERS else _MEMBERS
        new = [place for each in _column(reader, query, name) if (place := (other, each)) not in found]
        found.update(dict.fromkeys(new))
        ahead += new
    return [name for query, name in found if query == _MEMBERS]


def _claimed(path: str) -> int | None:
    """Return a descriptor of the file beside the store that only one service holds; it ends with the process."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(f"{path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        raise ConfigurationError(f"{path!r} cannot be used as a store ({error.strerror})") from error
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ConfigurationError(f"{path!r} is the store of another monitor that runs; name another file") from None
    return descriptor


def _settle(writer: sqlite3.Connection, settled: Settled, change: TotalsChange) -> None:
    marks = ", ".join("?" * len(settled.traces))
    for row in writer.execute(f"{_KEPT} WHERE trace_id IN ({marks})", settled.traces).fetchall():
        _forget(writer, row, change)
    writer.executemany("DELETE FROM stale WHERE trace_id = ?", [(trace_id,) for trace_id in settled.traces])
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
        for row in writer.execute(f"{_KEPT} WHERE handoff_id = ?", (each.handoff_id,)).fetchall():
            _forget(writer, row, change)
        _keep(writer, each, settled.at_ns, change)


def _keep(writer: sqlite3.Connection, handoff: StoredHandoff, at_ns: int, change: TotalsChange) -> None:
    query = "SELECT max(settled) + 1 FROM handoffs WHERE settled >= ? AND settled < ?"
    (later,) = writer.execute(query, (at_ns, at_ns + _CLOSE_NS)).fetchone()
    key = at_ns if later is None else later
    total, sums = change.add(key, handoff)
    count_run(writer, handoff, key)
    ids = (handoff.record_id or "", handoff.handoff_id, handoff.trace_id, handoff.run_id)
    writer.execute(
        _SAVE,
        (
            key,
            handoff.handoff_id,
            handoff.trace_id,
            handoff.name,
            handoff.service,
            handoff.run_id,
            handoff.verdict,
            handoff.at,
            handoff.cause,
            handoff.record_id,
            "\n".join(ids).lower(),
            "\n".join(handoff.objects).lower(),
            handoff.observation is not None,
            total,
        ),
    )
    row = msgspec.json.encode(handoff.row)
    writer.execute("INSERT INTO shown VALUES (?, ?, ?, ?)", (key, row, sums, handoff.observation))
    writer.executemany(
        "INSERT INTO findings VALUES (?, ?)", [(finding, key) for finding in _findings(handoff.findings)]
    )


def _forget_whole(writer: sqlite3.Connection, handoff_id: str | None, trace_id: str, change: TotalsChange) -> bool:
    """Delete a handoff, and the traces that only it is in; False where more of them has come: they are settled anew."""
    traces = {trace_id, *_column(writer, _TRACES, handoff_id)}
    if any(_column(writer, "SELECT 1 FROM spans WHERE trace_id = ? AND open LIMIT 1", each) for each in traces):
        return False
    for row in writer.execute(f"{_KEPT} WHERE handoff_id = ?", (handoff_id,)).fetchall():
        _forget(writer, row, change)
    for each in traces:
        _forget_spans(writer, each)
    return True


def _forget_spans(writer: sqlite3.Connection, trace_id: str) -> None:
    """Delete the spans of a trace that no handoff is left of."""
    left = "SELECT 1 FROM handoffs WHERE handoff_id IN (SELECT handoff_id FROM members WHERE trace_id = ?) LIMIT 1"
    if writer.execute(left, (trace_id,)).fetchone() is None:
        writer.execute("DELETE FROM spans WHERE trace_id = ?", (trace_id,))
        writer.execute("DELETE FROM members WHERE trace_id = ?", (trace_id,))


def _forget(writer: sqlite3.Connection, row: tuple[Any, ...], change: TotalsChange) -> None:
    """Delete a handoff, as it was read."""
    key, handoff_id, _, run, verdict, record, declared, total, shown, sums = row
    change.remove(key, total, sums)
    findings = _findings(map(tuple, msgspec.json.decode(shown).get("findings", ())))
    writer.executemany("DELETE FROM findings WHERE finding = ? AND settled = ?", [(each, key) for each in findings])
    writer.execute("DELETE FROM handoffs WHERE settled = ?", (key,))
    writer.execute("DELETE FROM shown WHERE settled = ?", (key,))
    writer.execute("DELETE FROM members WHERE handoff_id = ?", (handoff_id,))
    uncount_run(writer, run, verdict, record, is_declared=bool(declared))


def _findings(findings: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return what findings are looked for by: their codes, and each with its stage."""
    found = [name for code, stage in findings for name in (code, f"{code}@{stage}")]
    return list(dict.fromkeys(found))


def _column(reader: sqlite3.Connection, query: str, value: str | None) -> list[Any]:
    return [row[0] for row in reader.execute(query, (value,))]
