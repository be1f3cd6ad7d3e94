"""A run whose process is killed in the middle, and goes on in another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.runs.audit import evaluated, sealed

BEYOND = 5
"""How many more records than are waited for a program may begin before it is killed, so that it is amidst its work."""
POPULATION = tuple(f"r{number:03}" for number in range(60))
PROGRAM = [sys.executable, str(Path(__file__).with_name("crash_program.py"))]


def start(declaration: Path, journal: Path, *, fsync: bool, records: int | None = None) -> subprocess.Popen[bytes]:
    """Start a program that does so many records and waits for more, or all of them."""
    process = subprocess.Popen(
        [*PROGRAM, str(declaration), str(journal), str(fsync)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    if records is None:
        process.stdin.close()
    else:
        process.stdin.write(b"\n" * records)
        process.stdin.flush()
    return process


def said(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("fsync", [False, True])
def test_a_killed_run_goes_on(tmp_path: Path, fsync: bool) -> None:
    """Killed three times, a run loses nothing that was done, and ends with the report of one that never stopped."""
    declaration, journal = sealed(tmp_path, population=POPULATION), tmp_path / "journal.jsonl"
    done: set[bytes] = set()
    for before_kill in (7, 1, 19):
        with start(declaration, journal, fsync=fsync, records=before_kill + BEYOND) as process:
            written = journal.read_bytes().count(b"\n") if done else 0
            assert said(process) == b"resumed %d\n" % (len(POPULATION) - written)
            lines = [said(process) for _ in range(before_kill)]
            os.kill(process.pid, signal.SIGKILL)
            assert process.stdout is not None
            lines += [line for line in process.stdout.readlines() if line.endswith(b"\n")]
        assert process.returncode == -signal.SIGKILL
        names = {line.split()[0] for line in lines}
        assert done.isdisjoint(names)
        done |= names
        assert all(b'"record_id":"%s"' % name in journal.read_bytes() for name in done)
    with journal.open("ab") as stream:
        stream.write(b'{"selected":"obj-a","ids":["x","a')
    with start(declaration, journal, fsync=fsync) as process:
        assert process.stdout is not None
        output = process.stdout.read()
    head, _, report = output.partition(b"report\n")
    assert process.returncode == 0
    assert int(head.split()[1]) == len(POPULATION) - len(journal.read_bytes().splitlines()) + head.count(b"PASS")
    assert report == evaluated(declaration, journal)
    assert b'"run_status": "RUN_PASS"' in report
    assert journal.read_bytes().count(b"\n") == len(POPULATION)


def test_a_killed_run_is_not_passed_over(tmp_path: Path) -> None:
    """The journal of a killed run, evaluated as it lies there, says which records are missing."""
    declaration, journal = sealed(tmp_path, population=POPULATION), tmp_path / "journal.jsonl"
    with start(declaration, journal, fsync=False, records=5 + BEYOND) as process:
        for _ in range(5):
            said(process)
        os.kill(process.pid, signal.SIGKILL)
    assert b'"run_status": "RUN_UNVERIFIABLE"' in evaluated(declaration, journal)
