"""A run's observations on disk, a line each, so that a run survives the crash of its process."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from errno import EFBIG
from typing import Final

import msgspec

from rop_otel import semconv
from rop_otel.errors import InputError
from rop_otel.replay.limits import DEFAULT_LIMITS

if sys.platform != "win32":  # where two processes that share a journal are not told apart
    from fcntl import LOCK_EX, LOCK_NB, flock

_BLOCK: Final = 1024 * 1024
_LONGEST: Final = DEFAULT_LIMITS.max_line_bytes


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What each line of a journal says about its run, beside the observation.

    Args:
        run_id: The run.
        manifest_sha256: Its declaration; empty without one.
    """

    run_id: str = msgspec.field(name=semconv.RUN_ID)
    manifest_sha256: str = msgspec.field(name=semconv.DECLARATION_SHA256, default="")


class Journal:
    """The journal of one run, open for more.

    Args:
        path: Its file, which is made where there is none.
        stamp: What every line in it has to say.
        fsync: Whether each line is waited for until it is on the disk: it then survives the crash of the machine, too.

    Attributes:
        lost: How many lines could not be written.
        torn: Bytes of a last line without an end, which are dropped: its process crashed while it was written.

    Raises:
        InputError: The file cannot be used, is another run's, or another process writes to it.
    """

    def __init__(self, path: str, *, stamp: Stamp, fsync: bool) -> None:
        self.path = path
        self.lost = 0
        self._fsync = fsync
        self._dirty = False
        try:
            new = not os.path.exists(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(path, flags, 0o666)
            if fsync and new:
                _sync_folder(path)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", file=path) from None
        try:
            self._claim()
            self._size, self.torn = self._check(stamp)
            if self.torn:
                os.ftruncate(self._file, self._size)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"cannot be used: {error.strerror or error}", file=path) from None
        except InputError:
            os.close(self._file)
            raise

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that were written before, without their LF."""
        return self._read(self._size)

    def append(self, line: bytes) -> None:
        """Write a line; one that cannot be written as a whole is counted, and leaves nothing behind.

        Args:
            line: Without LF.

        Raises:
            OSError: It could not be written, or is longer than a journal's lines may be.
        """
        if len(line) > _LONGEST:
            self.lost += 1
            raise OSError(EFBIG, os.strerror(EFBIG))
        data = memoryview(line + b"\n")
        try:
            if self._dirty:
                self._take_back()
            self._dirty = True
            while data:
                data = data[os.write(self._file, data) :]
            if self._fsync:
                os.fsync(self._file)
        except OSError:
            self.lost += 1
            with suppress(OSError):
                self._take_back()
            raise
        self._dirty = False
        self._size += len(line) + 1

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _take_back(self) -> None:
        """Cut off what was written of a line that failed. Until that works nothing may follow it."""
        os.ftruncate(self._file, self._size)
        self._dirty = False

    def _claim(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise InputError("is no regular file", file=self.path)
        if sys.platform != "win32":
            try:
                flock(self._file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise InputError("another run writes to it", file=self.path) from None

    def _check(self, stamp: Stamp) -> tuple[int, int]:
        """Return how many bytes whole lines take, and how many follow them; every line has to be this run's."""
        end = os.fstat(self._file).st_size
        size = 0
        for number, line in enumerate(self._read(end), 1):
            try:
                found = _DECODER.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise InputError("is no journal of a run", file=self.path, line=number) from None
            if found != stamp:
                what = f"run {found.run_id!r}" if found.run_id != stamp.run_id else "the run under another declaration"
                raise InputError(f"is the journal of {what}", file=self.path, line=number)
            size += len(line) + 1
        if end and not size and not self._begins(stamp):
            raise InputError("is no journal of this run", file=self.path, line=1)
        return size, end - size

    def _begins(self, stamp: Stamp) -> bool:
        """Return whether a file without a whole line may hold a part of this run's first: else it is not ours."""
        with open(self._file, "rb", closefd=False) as stream:
            stream.seek(0)
            part = stream.read()
        try:
            return _DECODER.decode(part) == stamp
        except msgspec.ValidationError:
            return False
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return part[: len(_START)] == _START[: len(part)]

    def _read(self, end: int) -> Iterator[bytes]:
        """Yield the whole lines of the first bytes."""
        held, left, number = bytearray(), end, 1
        os.lseek(self._file, 0, os.SEEK_SET)
        while left and (block := os.read(self._file, min(_BLOCK, left))):
            left -= len(block)
            part, *parts = block.split(b"\n")
            held += part
            for part in parts:
                yield bytes(held)
                held, number = bytearray(part), number + 1
            if len(held) > _LONGEST:
                raise InputError(f"has a line of more than {_LONGEST:,} bytes", file=self.path, line=number)


_START: Final = b'{"'
"""What every line begins with."""

_DECODER: Final = msgspec.json.Decoder(Stamp)


def _sync_folder(path: str) -> None:
    """Wait until a new file's name is on the disk."""
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
