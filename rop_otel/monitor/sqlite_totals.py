"""Totals in the SQLite store: kept by the hour, and by the run, with each handoff that comes or goes."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rop_otel.core.handoff.sums import Sums
from rop_otel.monitor.store import HOUR_NS, NONE, StoredHandoff, Wanted

_MOST_OF_AN_HOUR: Final = 200
"""Names, services and runs that have totals of their own in an hour; others are in those of the whole hour only."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(list[Any])


def encoded(sums: Sums) -> bytes:
    """Return sums as they are stored."""
    return _ENCODER.encode(sums.as_list())


def decoded(data: bytes) -> Sums:
    """Return stored sums."""
    return Sums.from_list(_DECODER.decode(data))


class TotalsChange:
    """What one transaction changes in the totals.

    Args:
        writer: In the transaction.
    """

    def __init__(self, writer: sqlite3.Connection) -> None:
        self._writer = writer
        self._hours: dict[int, Sums] = {}
        self._totals: dict[int, Sums] = {}
        self._added: dict[tuple[int, int | None], Sums] = {}
        self._removed: dict[tuple[int, int | None], Sums] = {}
        self._ids: dict[tuple[int, str, str, str], int | None] = {}

    def add(self, settled: int, handoff: StoredHandoff) -> tuple[int | None, bytes]:
        """Add a handoff, and return its totals' ID, None where it has none of its own, and what it added."""
        hour = settled // HOUR_NS
        sums = handoff.sums.within(self._hour(hour))
        total = self._id(hour, handoff)
        self._added.setdefault((hour, total), Sums()).merge(sums)
        return total, encoded(sums)

    def remove(self, settled: int, total: int | None, sums: bytes) -> None:
        """Take a handoff out again."""
        self._removed.setdefault((settled // HOUR_NS, total), Sums()).merge(decoded(sums))

    def write(self) -> None:
        """Write what has changed."""
        for sign, changes in ((1, self._added), (-1, self._removed)):
            for (hour, total), change in changes.items():
                self._hour(hour).merge(change, sign=sign)
                if total is not None:
                    self._total(total).merge(change, sign=sign)
        for table, key, changed in (("hours", "hour", self._hours), ("totals", "id", self._totals)):
            for number, sums in changed.items():
                if sums.handoffs:
                    self._writer.execute(f"UPDATE {table} SET sums = ? WHERE {key} = ?", (encoded(sums), number))
                else:
                    self._writer.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))

    def _hour(self, hour: int) -> Sums:
        if hour not in self._hours:
            row = self._writer.execute("SELECT sums FROM hours WHERE hour = ?", (hour,)).fetchone()
            if row is None:
                self._writer.execute("INSERT INTO hours VALUES (?, ?)", (hour, encoded(Sums())))
            self._hours[hour] = Sums() if row is None else decoded(row[0])
        return self._hours[hour]

    def _total(self, number: int) -> Sums:
        if number not in self._totals:
            (data,) = self._writer.execute("SELECT sums FROM totals WHERE id = ?", (number,)).fetchone()
            self._totals[number] = decoded(data)
        return self._totals[number]

    def _id(self, hour: int, handoff: StoredHandoff) -> int | None:
        key = (hour, handoff.name, handoff.service, handoff.run_id)
        if key not in self._ids:
            self._ids[key] = self._known_id(key)
        return self._ids[key]

    def _known_id(self, key: tuple[int, str, str, str]) -> int | None:
        query = "SELECT id FROM totals WHERE hour = ? AND name = ? AND service = ? AND run = ?"
        row = self._writer.execute(query, key).fetchone()
        if row is not None:
            return int(row[0])
        (count,) = self._writer.execute("SELECT count(*) FROM totals WHERE hour = ?", key[:1]).fetchone()
        if count >= _MOST_OF_AN_HOUR:
            return None
        insert = "INSERT INTO totals (hour, name, service, run, sums) VALUES (?, ?, ?, ?, ?)"
        return self._writer.execute(insert, (*key, encoded(Sums()))).lastrowid


def sums_of(reader: sqlite3.Connection, wanted: Wanted) -> Iterator[tuple[int, Sums]]:
    """Yield the start of an hour and sums of it, in order of time."""
    given = {"name": wanted.name, "service": wanted.service, "run": wanted.run}
    exact = {column: value for column, value in given.items() if value is not None}
    conditions, values = _hours(wanted)
    where = _where([*(f"{column} = ?" for column in exact), *conditions])
    query = f"SELECT hour, sums FROM {'totals' if exact else 'hours'}{where} ORDER BY hour"
    for hour, sums in reader.execute(query, (*exact.values(), *values)):
        yield hour * HOUR_NS, decoded(sums)


def choices_of(reader: sqlite3.Connection, wanted: Wanted, limit: int) -> dict[str, list[str]]:
    """Return names, services and runs of handoffs."""
    conditions, values = _hours(wanted)
    return {
        column: sorted(
            value
            for (value,) in reader.execute(
                f"SELECT DISTINCT {column} FROM totals{_where(conditions)} LIMIT ?", (*values, limit)
            )
        )
        for column in ("name", "service", "run")
    }


def _hours(wanted: Wanted) -> tuple[list[str], list[int]]:
    """Return the conditions of the whole hours that are looked at, and their values."""
    conditions, values = [], []
    if wanted.since_ns:
        conditions.append("hour >= ?")
        values.append(wanted.since_ns // HOUR_NS)
    if wanted.until_ns is not None:
        conditions.append("hour < ?")
        values.append(-(-wanted.until_ns // HOUR_NS))
    return conditions, values


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def count_run(writer: sqlite3.Connection, handoff: StoredHandoff, settled: int) -> None:
    """Count a handoff in its run, if it has one, before it is written."""
    run, is_declared = handoff.run_id, handoff.observation is not None
    if run == NONE and not is_declared:
        return
    row = writer.execute("SELECT verdicts, last FROM runs WHERE run = ?", (run,)).fetchone()
    verdicts, last = (Counter(json.loads(row[0])), row[1]) if row else (Counter[str](), 0)
    verdicts[handoff.verdict] += 1
    new = not _has_record(writer, run, handoff.record_id)
    writer.execute(
        "INSERT INTO runs VALUES (?1, 1, ?2, ?3, ?4, ?5) ON CONFLICT (run) DO UPDATE SET handoffs = handoffs + 1,"
        " records = records + ?2, declared = declared + ?3, verdicts = ?4, last = ?5",
        (run, new, is_declared, json.dumps(verdicts), max(last, settled)),
    )


def uncount_run(writer: sqlite3.Connection, run: str, verdict: str, record: str | None, *, is_declared: bool) -> None:
    """Take a handoff out of its run, after it is deleted."""
    row = writer.execute("SELECT handoffs, verdicts FROM runs WHERE run = ?", (run,)).fetchone()
    if row is None or (run == NONE and not is_declared):
        return
    if row[0] == 1:
        writer.execute("DELETE FROM runs WHERE run = ?", (run,))
        return
    verdicts = Counter(json.loads(row[1]))
    verdicts[verdict] -= 1
    gone = record is not None and not _has_record(writer, run, record)
    writer.execute(
        "UPDATE runs SET handoffs = handoffs - 1, records = records - ?, declared = declared - ?, verdicts = ?"
        " WHERE run = ?",
        (gone, is_declared, json.dumps(+verdicts), run),
    )


def _has_record(writer: sqlite3.Connection, run: str, record: str | None) -> bool:
    """Return whether a run has a handoff of a record; True without a record, which is none."""
    if record is None:
        return True
    query = "SELECT 1 FROM handoffs WHERE run = ? AND record = ? AND declared >= ? LIMIT 1"
    return writer.execute(query, (run, record, run == NONE)).fetchone() is not None
