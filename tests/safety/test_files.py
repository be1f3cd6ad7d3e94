"""Files that somebody else may have made are opened without waiting for ever, and read no further than a limit."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from rop_otel.errors import InputError
from rop_otel.safety import files
from rop_otel.safety.files import open_input, read_whole


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a named pipe, for which nobody waits long."""
    monkeypatch.setattr(files, "_PATIENCE", 0.3)
    place = tmp_path / "pipe"
    os.mkfifo(place)
    return place


def test_what_is_no_file_is_not_opened() -> None:
    """A device, which may go on without end or do something when it is opened, is refused."""
    for place in ("/dev/zero", "/dev/null", "/dev/full"):
        with pytest.raises(InputError, match=f"^{place}: is no regular file but a device$"):
            open_input(place)


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(pipe: Path) -> None:
    """It is refused within its time, and no thread is left behind."""
    started, threads = time.monotonic(), threading.active_count()
    with pytest.raises(InputError, match=r"pipe: is no regular file but a pipe that nobody writes to$"):
        open_input(str(pipe))
    assert time.monotonic() - started < 10
    assert threading.active_count() == threads


def test_a_pipe_is_read_whoever_comes_first(pipe: Path) -> None:
    """What is written is read, by a writer that is there already, and by one that comes a moment later."""
    for delay in (0, 0.1):
        writer = threading.Timer(delay, pipe.write_bytes, args=(b"spans",))
        writer.start()
        assert read_whole(str(pipe)) == b"spans"
        writer.join()


def test_a_pipe_without_a_name_is_read() -> None:
    """What a shell hands over, as in ``<(cmd)``, is a pipe that its writer may have left already."""
    reading, writing = os.pipe()
    os.write(writing, b"spans")
    os.close(writing)
    assert read_whole(f"/dev/fd/{reading}") == b"spans"
    os.close(reading)


def test_no_more_is_read_than_asked_for(tmp_path: Path, pipe: Path) -> None:
    """A file up to the limit is read, and a larger one refused with what to do about it."""
    file = tmp_path / "file"
    for size in (0, 1, 99, 100):
        file.write_bytes(bytes(size))
        assert read_whole(str(file), most=100) == bytes(size)
    file.write_bytes(bytes(101))
    with pytest.raises(InputError, match=r"file: holds more than 100 bytes; raise it$"):
        read_whole(str(file), most=100, remedy="raise it")
    writer = threading.Thread(target=pipe.write_bytes, args=(bytes(101),))
    writer.start()
    with pytest.raises(InputError, match=r"pipe: holds more than 100 bytes$"):
        read_whole(str(pipe), most=100)
    writer.join()


@pytest.mark.parametrize("name", ["missing", ".", "nul\0", "x" * 5000])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str) -> None:
    """A missing file, a folder and an impossible name are refused with the system's reason."""
    with pytest.raises(InputError, match="cannot be read: "):
        read_whole(f"{tmp_path}/{name}")
