"""What every store does: a new one is added to ``STORES``."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.monitor.store import Settled, Store, StoredHandoff, Wanted
from tests.spans.trace import TRACE, pipeline, span

OTHER = "cd" * 16
STORES: list[Callable[[Path], Store]] = [lambda folder: SqliteStore(str(folder / "kept.db"))]


@pytest.fixture(params=STORES, ids=["sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    return lambda: request.param(tmp_path)


def stored(number: int, **fields: object) -> StoredHandoff:
    made = StoredHandoff(
        handoff_id=f"h{number}",
        trace_id=f"{number:032x}",
        name="qa",
        verdict="PASS" if number % 2 else "FAIL",
        start_ns=number,
        assessment={"handoff_id": f"h{number}", "text": "é\u202e<script>"},
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def settled(handoff: StoredHandoff) -> Settled:
    return Settled(traces=(handoff.trace_id,), handoffs=(handoff,), named=(handoff.handoff_id,), at_ns=handoff.start_ns)


ANY = Wanted()


def ids(store: Store, wanted: Wanted = ANY) -> list[str]:
    return [each.handoff_id for each in store.handoffs(wanted, limit=100).handoffs]


def test_spans_are_open_until_they_are_settled(reopen: Callable[[], Store]) -> None:
    """Spans come back as they were, in their order, also after the store was closed."""
    spans = pipeline()
    store = reopen()
    store.spool(spans[:3])
    store.spool(spans[3:])
    store.close()
    store = reopen()
    assert list(store.open_spans()) == spans
    assert store.spans_of([TRACE], []) == []
    store.settle([Settled(traces=(TRACE,), handoffs=(stored(1, trace_id=TRACE),), named=("h1",))])
    assert list(store.open_spans()) == []
    assert store.spans_of([TRACE], []) == store.spans_of([], ["h1"]) == spans


def test_traces_without_a_handoff_leave_nothing(reopen: Callable[[], Store]) -> None:
    """Their spans are deleted."""
    store = reopen()
    store.spool(pipeline())
    store.settle([Settled(traces=(TRACE,))])
    assert (list(store.open_spans()), store.spans_of([TRACE], [])) == ([], [])


def test_traces_that_share_a_handoff(reopen: Callable[[], Store]) -> None:
    """The spans of all of them are found from each."""
    store = reopen()
    spans = [*pipeline(), *pipeline(trace=OTHER)]
    store.spool(spans)
    store.settle([Settled(traces=(TRACE, OTHER), handoffs=(stored(1),), named=("h1",))])
    for traces, handoffs in [([TRACE], []), ([OTHER], []), ([], ["h1"])]:
        assert sorted(store.spans_of(traces, handoffs), key=repr) == sorted(spans, key=repr)


def test_pages(reopen: Callable[[], Store]) -> None:
    """The newest first, page by page, each once, those with one time among them too; new ones move no page."""
    store = reopen()
    store.settle([settled(stored(number, start_ns=number // 3)) for number in range(10)])
    seen: list[str] = []
    after: str | None = None
    while True:
        page = store.handoffs(Wanted(), limit=3, after=after)
        seen += [each.handoff_id for each in page.handoffs]
        store.settle([settled(stored(100 + len(seen), start_ns=1000))])
        if page.after is None:
            break
        after = page.after
    assert seen == ["h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1", "h0"]
    with pytest.raises(ValueError, match="not a page"):
        store.handoffs(Wanted(), limit=3, after="'; DROP TABLE handoffs")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), ["h3", "h2", "h1"]),
        (Wanted(verdict="PASS"), ["h3", "h1"]),
        (Wanted(verdict="FAIL", name="qa"), ["h2"]),
        (Wanted(dropped_at="mmr"), ["h2"]),
        (Wanted(drop_cause="mmr"), ["h2"]),
        (Wanted(finding="silent_cut"), ["h3", "h2"]),
        (Wanted(service="web"), ["h1"]),
        (Wanted(record_id="q1"), ["h1"]),
        (Wanted(run_id="r"), []),
        (Wanted(text="q1"), ["h1"]),
        (Wanted(text="%"), []),
        (Wanted(text="' OR 1=1 --"), []),
    ],
)
def test_filters(reopen: Callable[[], Store], wanted: Wanted, expected: list[str]) -> None:
    """Each filter, and all that are given together; what they hold is never taken for a pattern or a query."""
    store = reopen()
    cut = ("silent_cut", "mmr")
    store.settle(
        [
            settled(stored(1, service="web", record_id="q1")),
            settled(stored(2, dropped_at="mmr", drop_cause="mmr", findings=(cut, ("ids_missing", None)))),
            settled(stored(3, findings=(cut, cut))),
        ]
    )
    assert ids(store, wanted) == expected
    assert sum(store.counts(wanted).values()) == len(expected)


def test_one_handoff(reopen: Callable[[], Store]) -> None:
    """It comes back as a whole, and later facts take the place of earlier ones."""
    store = reopen()
    first = stored(1, findings=(("silent_cut", "mmr"),))
    store.settle([settled(first)])
    assert store.handoff("h1") == first
    later = stored(1, verdict="FAIL", dropped_at="mmr", drop_cause="mmr")
    store.settle([settled(later)])
    assert (store.handoff("h1"), store.handoff("h2"), store.counts(Wanted())) == (later, None, {"FAIL": 1})


def test_the_oldest_go(reopen: Callable[[], Store]) -> None:
    """Those before a time, or the oldest above a size, in steps, with their spans; open spans stay."""
    store = reopen()
    for number in range(1, 7):
        trace = f"{number:032x}"
        store.spool(pipeline(trace=trace))
        store.settle([settled(stored(number))])
    store.spool(pipeline(trace=OTHER))
    assert store.forget(before_ns=3) == 2
    assert store.forget(before_ns=3) == 0
    assert ids(store) == ["h6", "h5", "h4", "h3"]
    assert store.forget(before_ns=0, max_bytes=1, limit=3) == 3
    assert (ids(store), store.spans_of([f"{4:032x}"], [])) == (["h6"], [])
    assert len(list(store.open_spans())) == len(pipeline())


@pytest.mark.parametrize("length", [0, 10, 5000])
def test_a_file_of_somebody_else(tmp_path: Path, length: int) -> None:
    """A database of another program, or no database at all, is refused in a sentence and left as it is."""
    file = tmp_path / "kept.db"
    if length:
        file.write_bytes(b"x" * length)
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE theirs (a)")
        connection.close()
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match=r"kept\.db"):
        SqliteStore(str(file))
    assert file.read_bytes() == before


def test_a_newer_file(tmp_path: Path) -> None:
    """A file that a newer version wrote is refused and left as it is."""
    file = tmp_path / "kept.db"
    SqliteStore(str(file)).close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match="newer version"):
        SqliteStore(str(file))
    assert file.read_bytes() == before


def test_a_damaged_file(tmp_path: Path) -> None:
    """A file that is cut short is refused in a sentence, and left as it is."""
    file = tmp_path / "kept.db"
    store = SqliteStore(str(file))
    for number in range(200):
        store.spool(pipeline(trace=f"{number:032x}"))
    store.close()
    file.write_bytes(file.read_bytes()[:100] + b"\xff" * 4000)
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match=r"kept\.db"):
        SqliteStore(str(file))
    assert file.read_bytes() == before


def test_two_services(tmp_path: Path) -> None:
    """A file that another service works with is refused in a sentence."""
    file = tmp_path / "kept.db"
    first = SqliteStore(str(file))
    with pytest.raises(ConfigurationError, match="another monitor"):
        SqliteStore(str(file))
    first.close()
    SqliteStore(str(file)).close()


def test_a_locked_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another program writes to is refused in a sentence."""
    monkeypatch.setattr("rop_otel.monitor.sqlite_store._BUSY_SECONDS", 0.05)
    file = tmp_path / "kept.db"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ConfigurationError, match="locked"):
        SqliteStore(str(file))
    other.close()


@pytest.mark.parametrize("name", ["", "no/such/folder/kept.db", "."])
def test_no_file(tmp_path: Path, name: str) -> None:
    """A place where no file can be is refused in a sentence."""
    with pytest.raises(ConfigurationError, match="cannot be used as a store"):
        SqliteStore(str(tmp_path / name))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
def test_nobody_else_reads_the_files(tmp_path: Path) -> None:
    """The store and all that lies beside it while it is used is its owner's alone, whatever the mask allows."""
    before = os.umask(0o022)
    try:
        store = SqliteStore(str(tmp_path / "kept.db"))
        store.spool(pipeline())
        modes = {each.name: oct(each.stat().st_mode & 0o777) for each in tmp_path.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("kept.db", "kept.db-lock", "kept.db-shm", "kept.db-wal"), "0o600")


def test_a_full_disk(tmp_path: Path) -> None:
    """What there is no room for is refused as a whole; what was kept stays, and there may be room again."""
    store = SqliteStore(str(tmp_path / "kept.db"))
    store.spool(pipeline())
    [pages] = store._writer.execute("PRAGMA page_count").fetchone()
    store._writer.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(2):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            store.spool([span(number + 2, attributes={"text": "x" * 100_000}), span(number + 5)])
    assert list(store.open_spans()) == pipeline()
    store._writer.execute("PRAGMA max_page_count = 1000000")
    store.spool([span(2)])
    assert list(store.open_spans()) == [*pipeline(), span(2)]
    store.close()
