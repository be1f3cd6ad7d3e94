"""Files that are no journal of the run, and journals that somebody else lays hands on."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import rop_otel as rop
from rop_otel.tracing.running import runtime
from tests.runs.audit import answer
from tests.tracing.watched import Watched

RUN = json.dumps({"rop.run.id": "nightly"}, separators=(",", ":"))[:-1].encode()
"""What a line of this run begins with where no declaration was sealed, as far as the ID."""

OTHERS = {
    "template": b'{"settings": {{ settings }}, "text": "{% if a %}' + b"x" * 300,
    "cut download": b'{"resourceSpans": [{"resource": {',
    "JSON with comments": b'{"a": 1, // mine\n "b": [2]}',
    "document": b'{"a": 1}',
    "documents on one line": b'{"a": 1} {"b": 2}',
    "laid out document": b'{\n  "rop.run.id": "nightly"\n}\n',
    "text": b"Dear diary,\nnothing happened.\n",
    "text without an end": b"Dear diary",
    "bytes": bytes(range(256)) * 20,
    "zeros": bytes(4096),
    "line feeds": b"\n\n\n",
    "one brace": b"{",
    "brace and quote": b'{"',
    "another run": b'{"rop.run.id":"weekly","record_id":"a"}\n',
    "another run's torn line": b'{"rop.run.id":"weekly","rec',
    "a longer ID": RUN[:-1] + b"-2",
    "another declaration": RUN + b',"rop.declaration.sha256":"' + b"0" * 64 + b'","rec',
    "another version": b'{"rop.run":{"id":"nightly"},"record_id":"a"}\n{"torn',
    "a list of lines": b'[{"rop.run.id":"nightly"}]\n',
    "with a mark": b"\xef\xbb\xbf" + RUN + b"}\n",
    "UTF-16": (RUN + b"}\n").decode().encode("utf-16"),
}


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS)
def test_a_file_of_others_is_left_alone(tmp_path: Path, data: bytes) -> None:
    """Whatever stands in a file that this run did not begin, not a byte of it changes, and the report says why."""
    file = tmp_path / "mine"
    file.write_bytes(data)
    file.chmod(0o600)
    before = file.stat()
    with rop.run("nightly", expected=["a", "b"], journal=file) as run:
        answer("a", "x", ["x"])
    after = file.stat()
    assert file.read_bytes() == data
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    [why] = run.close().incomplete
    assert why.startswith(f"there is no journal: {file}:1: is ")
    assert run.close().run.verdicts["PASS"] == 1


@pytest.mark.parametrize("tail", [b"a note of mine\n", b"a note", b'{"a": 1}\n', b'{"a": 1', b"\0\0\n", b"\n"])
def test_what_others_wrote_behind_our_lines_is_left_alone(tmp_path: Path, tail: bytes) -> None:
    """A journal that somebody else wrote to is not cut, and the place is named."""
    file = tmp_path / "journal"
    with rop.run("nightly", expected=["a", "b"], journal=file):
        answer("a", "x", ["x"])
    data = file.read_bytes() + tail
    file.write_bytes(data)
    with rop.run("nightly", expected=["a", "b"], journal=file) as run:
        answer("b", "x", ["x"])
    assert file.read_bytes() == data
    assert f"there is no journal: {file}:2: " in run.close().incomplete[0]


def test_a_torn_line_stays_where_the_lines_before_it_cannot_be_used(tmp_path: Path) -> None:
    """A journal that is refused for one of its lines keeps its torn last line, too."""
    file = tmp_path / "journal"
    with rop.run("nightly", expected=["a", "b"], journal=file):
        answer("a", "x", ["x"])
    data = file.read_bytes().replace(b'"PASS"', b'"PAST"') + file.read_bytes()[:40]
    file.write_bytes(data)
    assert rop.run("nightly", expected=["a", "b"], journal=file).close().incomplete
    assert file.read_bytes() == data


def test_zeros_of_a_crashed_file_system_are_torn(tmp_path: Path) -> None:
    """Zeros behind whole lines, which a crash of the machine leaves, are dropped like a torn line."""
    file = tmp_path / "journal"
    with rop.run("nightly", expected=["a", "b"], journal=file):
        answer("a", "x", ["x"])
    whole = file.read_bytes()
    for tail in (bytes(100), whole[:30] + bytes(100)):
        file.write_bytes(whole + tail)
        assert rop.run("nightly", expected=["a", "b"], journal=file).close().incomplete == ()
        assert file.read_bytes() == whole


def test_an_empty_file_is_begun(tmp_path: Path) -> None:
    """A file without a byte has nothing to lose, and becomes the journal."""
    file = tmp_path / "journal"
    file.touch()
    with rop.run("nightly", expected=["a"], journal=file) as run:
        answer("a", "x", ["x"])
    assert (run.close().incomplete, file.read_bytes().count(b"\n")) == ((), 1)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A folder, a pipe, a device, a circle of links and a link to a pipe are said in one sentence each."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "one", tmp_path / "link", "/dev/null", "/dev/full"):
        with rop.run("nightly", expected=["a"], journal=place) as run:
            answer("a", "x", ["x"])
        [why] = run.close().incomplete
        assert why.startswith(f"there is no journal: {place}: ")
    assert rop.run("nightly", expected=["a"], journal=tmp_path / "new" / "..").close().incomplete


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_file_is_said(tmp_path: Path) -> None:
    """A file that may not be written is no journal."""
    file = tmp_path / "journal"
    file.touch(mode=0o400)
    assert "Permission denied" in rop.run("nightly", expected=["a"], journal=file).close().incomplete[0]


def truncate(file: Path) -> None:
    """Empty the file, as a rotation that copies does."""
    os.truncate(file, 0)


def shorten(file: Path) -> None:
    """Take the last bytes away."""
    os.truncate(file, file.stat().st_size - 3)


def overwrite(file: Path) -> None:
    """Put something else into the file."""
    file.write_bytes(b"mine\n")


def write_behind(file: Path) -> None:
    """Write a line of one's own."""
    with file.open("ab") as stream:
        stream.write(b"mine\n")


def replace(file: Path) -> None:
    """Put another file in its place, as editors do."""
    other = file.with_name("other")
    other.write_bytes(b"mine\n")
    other.rename(file)


def rename(file: Path) -> None:
    """Move it away, as a rotation does."""
    file.rename(file.with_name("moved"))


def rename_and_create(file: Path) -> None:
    """Move it away and make a new one, as a rotation does, too."""
    rename(file)
    file.write_bytes(b"mine\n")


def delete(file: Path) -> None:
    """Delete it."""
    file.unlink()


SPOILT: dict[Callable[[Path], None], str] = {
    truncate: "truncated",
    shorten: "truncated",
    overwrite: "truncated",
    write_behind: "written to by somebody else",
}
MOVED: dict[Callable[[Path], None], str] = {
    replace: "replaced by another file",
    rename: "renamed",
    rename_and_create: "replaced by another file",
    delete: "deleted",
}


@pytest.mark.parametrize("change", [*SPOILT, *MOVED], ids=lambda change: change.__name__)
@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
def test_a_journal_that_is_changed_is_noticed(
    tmp_path: Path, change: Callable[[Path], None], last: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The application goes on, what others wrote stays as it is, and the report says what happened in one sentence."""
    file, watched = tmp_path / "journal", Watched()
    runtime.install(watched.runtime)
    with rop.run("nightly", expected=["a", "b", "c"], journal=file) as run:
        answer("a", "x", ["x"])
        answer("b", "x", ["x"])
        if not last:
            change(file)
            held = file.read_bytes() if file.exists() else None
        assert answer("c", "x", ["x"]).verdict == "PASS"
        if last:
            change(file)
            held = file.read_bytes() if file.exists() else None
    assert run.close().status == "RUN_PASS"
    done = (SPOILT | MOVED)[change]
    unwritten = ("observations that could not be written to the journal: 1",)
    expected = (f"the journal was {done} while the run went on",)
    assert run.close().incomplete == expected + (unwritten if change in SPOILT and not last else ())
    assert expected[0] in caplog.text
    assert watched.errors("run") == (2 if change in SPOILT and not last else 1)  # the change, and the lost line
    assert (file.read_bytes() if file.exists() else None) == held
    if change in (rename, rename_and_create):
        moved = file.with_name("moved").read_bytes()
        assert [b'"%s"' % name in moved for name in (b"a", b"b", b"c")] == [True] * 3


def test_a_journal_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that changes its folder while a run goes on has not moved the journal."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with rop.run("nightly", expected=["a"], journal="journal") as run:
        monkeypatch.chdir(tmp_path / "elsewhere")
        answer("a", "x", ["x"])
    assert run.close().incomplete == ()


def test_a_descriptor_that_became_another_files_is_not_written_to(tmp_path: Path) -> None:
    """Where the application closes every descriptor and opens a file of its own, that file stays its own."""
    mine = tmp_path / "mine"
    with rop.run("nightly", expected=["a"], journal=tmp_path / "journal") as run:
        journal = run._journal
        assert journal is not None
        other = os.open(mine, os.O_RDWR | os.O_CREAT)
        os.dup2(other, journal._file)
        answer("a", "x", ["x"])
    assert mine.read_bytes() == b""
    assert "closed by the application" in run.close().incomplete[0]
    os.fstat(journal._file)
    os.close(journal._file)
    os.close(other)


def test_strict_mode_raises_for_a_file_of_others(tmp_path: Path) -> None:
    """In strict mode the file is left alone, too, and the error says what it is."""
    file = tmp_path / "mine"
    file.write_bytes(b'{"mine": ')
    runtime.install(Watched(strict=True).runtime)
    with pytest.raises(rop.RopError, match="is no journal of this run"):
        rop.run("nightly", expected=["a"], journal=file)
    assert file.read_bytes() == b'{"mine": '


def test_lines_of_the_order_before_are_gone_on_with(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A journal whose lines name the run last is gone on with, and a torn line of that order is dropped."""
    file = tmp_path / "journal"
    with rop.run("nightly", expected=["a", "b"], journal=file):
        answer("a", "x", ["x"])
    fields = json.loads(file.read_bytes())
    stamp = {name: fields.pop(name) for name in ("rop.run.id", "rop.declaration.sha256")}
    line = json.dumps({**fields, **stamp}, separators=(",", ":")).encode() + b"\n"
    file.write_bytes(line + line[:50])
    with caplog.at_level(logging.WARNING), rop.run("nightly", expected=["a", "b"], journal=file) as run:
        assert run.missing == ("b",)
    assert "torn" in caplog.text
    assert (run.close().incomplete, file.read_bytes()) == ((), line)
