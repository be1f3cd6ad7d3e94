"""What is read from the SQLite store, apart from spans and totals."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rop_otel.monitor.store import NONE, OF_KIND, Page, StoredRun, Wanted

_EXACT: Final = ("cause", "at", "run", "verdict", "service", "name")
"""Filters with an index each: the first that is given leads, so those come first that let less through."""

_PARTIAL: Final = ("cause", "run")
"""Those whose index leaves out the handoffs that have none."""

_WINDOW: Final = 20_000
"""Of how many handoffs that the leading filter lets through the others are looked at, at a time."""

_LOOK_SECONDS: Final = 0.05
"""After how long a page ends with what was found."""

_LATEST: Final = 2**63 - 1
_RUN: Final = "SELECT run, handoffs, records, declared, verdicts, last FROM runs"
_FIRST: Final = "SELECT min(settled) FROM handoffs WHERE run = ? AND declared >= ?"


def page_of(reader: sqlite3.Connection, wanted: Wanted, *, limit: int, after: str | None) -> Page:
    """Return a page of handoffs; see :meth:`~rop_otel.monitor.store.Store.handoffs`."""
    keys, end = _keys(reader, wanted, limit=limit, before=_before(wanted, after))
    query = f"SELECT row FROM shown WHERE settled IN ({', '.join('?' * len(keys))}) ORDER BY settled DESC"
    rows = [msgspec.json.decode(row) for (row,) in reader.execute(query, keys)]
    return Page(rows=tuple(rows), after=None if end is None else str(end))


def _before(wanted: Wanted, after: str | None) -> int:
    until = _LATEST if wanted.until_ns is None else wanted.until_ns
    if after is None:
        return until
    if not (after.isascii() and after.isdecimal() and len(after) <= len(str(_LATEST))):
        raise ValueError(f"after is not from a page: {after[:80]!r}")
    return min(until, int(after))


def _keys(reader: sqlite3.Connection, wanted: Wanted, *, limit: int, before: int) -> tuple[list[int], int | None]:
    """Return the keys of a page, and before which key the next one begins."""
    query = _Query(reader, wanted)
    found: list[int] = []
    ends = time.monotonic() + _LOOK_SECONDS
    while True:
        least = query.window(before) if query.others else None
        found += query.keys(before, wanted.since_ns if least is None else least, limit + 1 - len(found))
        if len(found) > limit:
            return found[:limit], found[limit - 1]
        if least is None:
            return found, None
        before = least
        if time.monotonic() > ends:
            return found, before


class _Query:
    """One filter leads, by an index in order of time; the others are looked at in windows of what it lets through.

    Attributes:
        others: The conditions that do not lead.
    """

    def __init__(self, reader: sqlite3.Connection, wanted: Wanted) -> None:
        self._reader = reader
        self._since = wanted.since_ns
        self._table = "handoffs"
        self._lead: list[str] = []
        self._led_by: list[Any] = []
        self.others: list[str] = []
        self._values: list[Any] = []
        if wanted.text is not None and self._is_whole(wanted.text):
            self._take("(handoff_id = ? OR trace_id = ?)", wanted.text, wanted.text)
        elif wanted.text is not None:
            self._look("(instr(ids, ?) OR instr(objects, ?))", *[wanted.text.lower()] * 2)
        if wanted.finding is not None and not self._lead:
            self._table = "findings CROSS JOIN handoffs USING (settled)"
            self._take("finding = ?", wanted.finding)
        elif wanted.finding is not None:
            self._look(
                "EXISTS (SELECT 1 FROM findings WHERE finding = ? AND settled = handoffs.settled)", wanted.finding
            )
        for column in _EXACT:
            value = getattr(wanted, column)
            if value is None:
                continue
            if column == "at" and value.endswith(OF_KIND):
                kind = value.removesuffix(OF_KIND)
                self._look("(+at = ? OR substr(at, 1, ?) = ?)", kind, len(kind) + 1, f"{kind}/")
            elif self._lead or (value == NONE and column in _PARTIAL):
                self._look(f"+{column} = ?", value)  # the plus keeps SQLite from choosing an index here
            else:
                self._take(f"{column} = ?" + (f" AND {column} != '{NONE}'" if column in _PARTIAL else ""), value)
        if wanted.record is not None:
            self._look("instr(substr(ids, 1, instr(ids, char(10)) - 1), ?)", wanted.record.lower())
        if wanted.object is not None:
            self._look("instr(objects, ?)", wanted.object.lower())

    def _take(self, condition: str, *values: Any) -> None:
        self._lead.append(condition)
        self._led_by += values

    def _look(self, condition: str, *values: Any) -> None:
        self.others.append(condition)
        self._values += values

    def _is_whole(self, text: str) -> bool:
        query = "SELECT 1 FROM handoffs WHERE handoff_id = ?1 OR trace_id = ?1"
        return self._reader.execute(query, (text,)).fetchone() is not None

    def window(self, before: int) -> int | None:
        """Return the least key of the next window; None where it is the last one."""
        query = (
            f"SELECT settled FROM {self._table} WHERE {self._where(self._lead)} ORDER BY settled DESC LIMIT 1 OFFSET ?"
        )
        row = self._reader.execute(query, (*self._led_by, before, self._since, _WINDOW)).fetchone()
        return None if row is None else int(row[0])

    def keys(self, before: int, least: int, limit: int) -> list[int]:
        """Return the keys between two that everything holds for, the latest first."""
        where = self._where(self._lead, self.others)
        query = f"SELECT settled FROM {self._table} WHERE {where} ORDER BY settled DESC LIMIT ?"
        values = (*self._led_by, before, least, *self._values, limit)
        return [key for (key,) in self._reader.execute(query, values)]

    def _where(self, lead: list[str], others: list[str] | tuple[()] = ()) -> str:
        key = f"{self._table.partition(' ')[0]}.settled"
        return " AND ".join([*lead, f"{key} < ?", f"{key} >= ?", *others])


def runs_of(reader: sqlite3.Connection, limit: int) -> list[StoredRun]:
    """Return the runs, the one of the handoff that was settled last first."""
    return [_run(reader, row) for row in reader.execute(f"{_RUN} ORDER BY last DESC LIMIT ?", (limit,)).fetchall()]


def run_of(reader: sqlite3.Connection, run_id: str) -> StoredRun | None:
    """Return one run; None where no handoff of it is kept."""
    row = reader.execute(f"{_RUN} WHERE run = ?", (run_id,)).fetchone()
    return None if row is None else _run(reader, row)


def _run(reader: sqlite3.Connection, row: tuple[Any, ...]) -> StoredRun:
    run_id, handoffs, records, declared, verdicts, last = row
    (first,) = reader.execute(_FIRST, (run_id, run_id == NONE)).fetchone()
    return StoredRun(
        run_id=run_id,
        handoffs=handoffs,
        records=records,
        declared=declared,
        verdicts=json.loads(verdicts),
        first_ns=first or last,
        last_ns=last,
    )


def observations_of(reader: sqlite3.Connection, run_id: str, after: int) -> Iterator[tuple[int, bytes]]:
    """Yield when the declared handoffs of a run were settled, and their lines, in that order."""
    query = (
        "SELECT settled, observation FROM handoffs JOIN shown USING (settled)"
        " WHERE run = ? AND declared AND handoffs.settled > ? ORDER BY handoffs.settled"
    )
    yield from reader.execute(query, (run_id, after))
