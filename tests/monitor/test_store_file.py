"""The file of the SQLite store: whose it is, who may read it, and what it does where it cannot be written."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.monitor.sqlite_store import SqliteStore
from tests.spans.trace import pipeline, span


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
