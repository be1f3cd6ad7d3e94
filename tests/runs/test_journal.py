"""The journal: what survives, what does not, and what is said about it."""

from __future__ import annotations

import errno
import json
import logging
import os
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # it ships no types
import pytest

import rop_otel as rop
from rop_otel.core.profile.schema import schema
from rop_otel.runs.journal import Journal, Stamp
from rop_otel.tracing.running import runtime
from tests.runs.audit import answer, evaluated, sealed
from tests.tracing.watched import Watched

STAMP = Stamp(run_id="nightly", manifest_sha256="")


class FullDisk:
    """Writes half of each line, then finds the disk full, while it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, truncates: bool = True) -> None:
        self.full = False
        self._write, self._truncate, self._truncates = os.write, os.ftruncate, truncates
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "ftruncate", self.truncate)

    def write(self, file: int, data: Any) -> int:
        """Write, or some of it."""
        whole = bytes(data)
        if not self.full or len(whole) < 20:
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self._write(file, whole)
        return self._write(file, whole[: len(whole) // 2 + 1])

    def truncate(self, file: int, size: int) -> None:
        """Cut the file, where that works."""
        if not self._truncates:
            raise OSError(errno.EIO, "Input/output error")
        self._truncate(file, size)


def test_a_run_goes_on_with_its_journal(tmp_path: Path) -> None:
    """Started again with its journal a run knows what was done, and ends as if it had never stopped."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    first = rop.run("nightly", declaration=declaration, journal=journal)
    with first:
        answer("r1", "obj-a", ["a#0"])
        answer("r2", "obj-a", ["b#0"])
    assert first.close().status == "RUN_FAIL"
    with rop.run("nightly", declaration=declaration, journal=journal, fsync=True) as again:
        assert again.missing == ("r3",)
        assert again.standing().records["FINISHED"] == again.standing().records["STARTED"] == 2
        answer("r3", "obj-b", ["b#0"])
    assert again.close().to_bytes() == evaluated(declaration, journal)
    assert again.close().run.accounts.missing == ()


def test_a_journal_of_contradictions_and_own_words_is_read_back(tmp_path: Path) -> None:
    """What no record of ROP can say comes back from the journal, too."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    for _ in range(2):
        run = rop.run("nightly", declaration=declaration, journal=journal)
        with run:
            if not run.standing().records["FINISHED"]:
                answer("r1", "obj-a", ["a#0"], rule="all")
                answer(None, "obj-a", ["a#0"])
    assert run.close().run.verdicts["DECLARATION_INVALID"] == 1
    assert run.close().as_dict()["malformed_observations"] == [
        {"file": str(journal), "line": 2, "reason": "the record ID at 'record_id' is missing"}
    ]
    reports = []
    for _ in range(2):
        run = rop.run("own", expected=["a", "b", "c"], journal=tmp_path / "own.jsonl")
        with run:
            if not run.standing().records["FINISHED"]:
                answer("a", "x", ["x"])
                answer("b", "x", ["y", "z"])
                answer(None, "x", ["y"])
                answer("c", ..., ["x"], mode="open")
        reports.append(run.close().to_bytes())
    assert reports[0] == reports[1]
    assert run.close().run.verdicts["NOT_APPLICABLE"] == 1


def test_a_torn_line_is_dropped_and_said_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Wherever the last line was torn, opening drops it, says so, and what comes next is a line of its own."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal):
        answer("r1", "obj-a", ["a#0"])
        answer("r2", "obj-a", ["a#0"])
    whole = journal.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        journal.write_bytes(whole[:cut])
        caplog.clear()
        with caplog.at_level(logging.WARNING), rop.run("nightly", declaration=declaration, journal=journal) as run:
            assert run.missing == ("r2", "r3")
            answer("r2", "obj-a", ["a#0"])
        assert ("torn" in caplog.text) == (cut > first)
        assert journal.read_bytes() == whole
        assert run.close().to_bytes() == evaluated(declaration, journal)


def test_another_runs_journal_is_left_alone(tmp_path: Path) -> None:
    """A journal of another run, of another declaration, of another population, or no journal: not touched, and said."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal):
        answer("r1", "obj-a", ["a#0"])
    other = sealed(tmp_path / "other", cutoff=1)
    before = journal.read_bytes() + b'{"torn'
    journal.write_bytes(before)
    for run_id, place in (("weekly", declaration), ("nightly", other)):
        with rop.run(run_id, declaration=place, journal=journal) as run:
            answer("r1", "obj-a", ["a#0"])
        assert "is the journal of" in run.close().incomplete[0]
        assert run.close().run.accounts.missing == ("r2", "r3")
    with rop.run("nightly", expected=["r1"], journal=journal) as run:
        pass
    assert run.close().incomplete
    assert journal.read_bytes() == before
    journal.write_bytes(b'{"record_id":"r1"}\n')
    assert "is no journal" in rop.run("nightly", expected=["r1"], journal=journal).close().incomplete[0]
    assert "is no journal" in rop.run("nightly", declaration=other, journal=other).close().incomplete[0]


@pytest.mark.parametrize(
    "data",
    [
        b'{"mine":1}',
        b"mine",
        b"\x1f\x8b\x08",
        b'{"record_id":"r1","rop.run.id":"weekly"}',
        b'{"record_id":"r1","rop.run.id":"nightly"}',
    ],
)
def test_a_file_without_a_line_end_is_left_alone(tmp_path: Path, data: bytes) -> None:
    """What is not the beginning of this run's first line was not torn by its crash, and is not dropped."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    journal.write_bytes(data)
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        answer("r1", "obj-a", ["a#0"])
    assert journal.read_bytes() == data
    assert "is no journal of" in run.close().incomplete[0]


@pytest.mark.parametrize("cut", [20, 30, 120, -1])
def test_a_torn_first_line_is_dropped(tmp_path: Path, cut: int) -> None:
    """A run that crashed within its first line, behind the name of its ID, goes on from the beginning."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    for _ in range(2):
        with rop.run("nightly", declaration=declaration, journal=journal) as run:
            answer("r1", "obj-a", ["a#0"])
        assert not run.close().incomplete
        whole = journal.read_bytes()
        journal.write_bytes(whole[:cut])


def test_lines_that_are_no_observations(tmp_path: Path) -> None:
    """A journal that was tampered with keeps nobody from working."""
    journal = tmp_path / "journal.jsonl"
    with rop.run("nightly", expected=["r1"], journal=journal):
        answer("r1", "x", ["x"])
    journal.write_bytes(journal.read_bytes().replace(b'"PASS"', b'"PASSED"'))
    with rop.run("nightly", expected=["r1"], journal=journal) as run:
        assert run.missing == ("r1",)
        answer("r1", "x", ["x"])
    assert (run.close().status, len(run.close().incomplete)) == ("RUN_PASS", 1)
    journal.unlink()
    assert rop.run("nightly", expected=["r1"], journal=journal).close().incomplete == ()


def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    """While one run writes to a journal another one cannot; once it has ended it can."""
    journal = tmp_path / "journal.jsonl"
    first = rop.run("nightly", expected=["r1"], journal=journal)
    assert "another run writes to it" in rop.run("nightly", expected=["r1"], journal=journal).close().incomplete[0]
    first.close()
    assert rop.run("nightly", expected=["r1"], journal=journal).close().incomplete == ()


@pytest.mark.parametrize("name", ["", "nowhere/journal", "a\0b", ".", "pipe"])
def test_a_journal_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    """The run goes on without it and says so; in strict mode it raises."""
    os.mkfifo(tmp_path / "pipe")
    place = str(tmp_path / name) if name else ""
    watched = Watched()
    runtime.install(watched.runtime)
    with rop.run("nightly", expected=["r1"], journal=place) as run:
        answer("r1", "x", ["x"])
    assert (run.close().status, len(run.close().incomplete)) == ("RUN_PASS", 1)
    assert watched.errors("run") == 1
    runtime.install(Watched(strict=True).runtime)
    with pytest.raises(rop.RopError, match="journal"):
        rop.run("nightly", expected=["r1"], journal=place)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is counted in the run, and said; half a line is taken back; later lines are written."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    watched = Watched()
    runtime.install(watched.runtime)
    disk = FullDisk(monkeypatch)
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        answer("r1", "obj-a", ["a#0"])
        disk.full = True
        assert answer("r2", "obj-a", ["a#0"]).verdict == "PASS"
        disk.full = False
        answer("r3", "obj-a", ["a#0"])
    report = run.close()
    assert (report.status, report.incomplete) == (
        "RUN_PASS",
        ("observations that could not be written to the journal: 1",),
    )
    assert b'"incomplete": [' in report.to_bytes()
    jsonschema.validate(json.loads(report.to_bytes()), schema("run_report"), cls=jsonschema.Draft202012Validator)
    assert watched.errors("run") == 1
    assert [b'"%s"' % name in journal.read_bytes() for name in (b"r1", b"r2", b"r3")] == [True, False, True]
    assert rop.run("nightly", declaration=declaration, journal=journal).missing == ("r2",)


def test_a_disk_that_keeps_half_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where half a line cannot be taken back nothing is written after it, so that it stays the torn last one."""
    journal = tmp_path / "journal.jsonl"
    disk = FullDisk(monkeypatch, truncates=False)
    with rop.run("nightly", expected=["r1", "r2", "r3"], journal=journal) as run:
        answer("r1", "x", ["x"])
        disk.full = True
        answer("r2", "x", ["x"])
        disk.full = False
        answer("r3", "x", ["x"])
    assert run.close().incomplete == ("observations that could not be written to the journal: 2",)
    monkeypatch.undo()
    again = rop.run("nightly", expected=["r1", "r2", "r3"], journal=journal)
    assert (again.missing, again.close().incomplete) == (("r2", "r3"), ())


def test_fsync_is_what_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is waited for where that was asked for, and so is the name of a new file."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for fsync, calls in ((False, 0), (True, 3)):
        synced.clear()
        journal = Journal(str(tmp_path / f"{fsync}.jsonl"), stamp=STAMP, fsync=fsync)
        journal.append(b"{}")
        journal.append(b"{}")
        journal.close()
        assert len(synced) == calls


def test_long_journals_are_read_in_blocks(tmp_path: Path) -> None:
    """Lines that lie across blocks come back whole."""
    journal = Journal(str(tmp_path / "j"), stamp=STAMP, fsync=False)
    lines = [b'{"rop.run.id":"nightly","x":"%s"}' % (b"y" * (number * 7919 % 400_000)) for number in range(20)]
    for line in lines:
        journal.append(line)
    journal.close()
    again = Journal(str(tmp_path / "j"), stamp=STAMP, fsync=False)
    assert list(again.lines()) == lines
    again.close()


def test_a_file_of_one_long_line_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that is one line of 200 MB a small part is read; it is left alone, and the run says so."""
    journal = tmp_path / "journal.jsonl"
    with journal.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    reads: list[int] = []
    read = os.read

    def noted(file: int, size: int) -> bytes:
        reads.append(size)
        return read(file, size)

    monkeypatch.setattr(os, "read", noted)
    with rop.run("nightly", expected=["r1"], journal=journal) as run:
        pass
    assert f"{journal}:1: has a line of more than 16,777,216 bytes" in str(run.report)
    assert sum(reads) < 20 * 1024 * 1024
    assert journal.stat().st_size == 200 * 1024 * 1024


def test_an_observation_that_is_too_long_is_not_written(tmp_path: Path) -> None:
    """What could not be read again is counted as not written, and what follows is written."""
    path = tmp_path / "journal.jsonl"
    journal = Journal(str(path), stamp=STAMP, fsync=False)
    with pytest.raises(OSError, match="File too large"):
        journal.append(b"x" * (16 * 1024 * 1024 + 1))
    journal.append(b"{}")
    journal.close()
    assert (journal.lost, path.read_bytes()) == (1, b"{}\n")
