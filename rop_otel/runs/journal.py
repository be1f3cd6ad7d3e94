"""A run's observations on disk, a line each, so that a run survives the crash of its process."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from errno import EFBIG
from typing import Any, Final

import msgspec

from rop_otel import semconv
from rop_otel.errors import InputError
from rop_otel.evaluation.limits import DEFAULT_LIMITS
from rop_otel.safety import raise_if_delivered, suppress_own
from rop_otel.safety.digested_files import Digest

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

    def line(self, fields: dict[str, Any]) -> bytes:
        """Return the line of these fields, which the stamp begins, without LF."""
        stamped = {semconv.RUN_ID: self.run_id}
        if self.manifest_sha256:
            stamped[semconv.DECLARATION_SHA256] = self.manifest_sha256
        text = json.dumps({**stamped, **fields}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        # A lone half of a surrogate pair has no UTF-8 form; on an exported span it becomes the same question mark.
        return text.encode(errors="replace")


class Journal:
    """The journal of one run, open for more.

    A file is changed only where a line of this run begins it, and then only behind its whole lines.

    Args:
        path: Its file, which is made where there is none.
        stamp: What every line in it has to say.
        fsync: Whether each line is waited for until it is on the disk: it then survives the crash of the machine, too.

    Attributes:
        lost: How many lines could not be written.
        torn: Bytes of a last line without an end: its process crashed while it was written.

    Raises:
        InputError: The file cannot be used, is another run's, or another process writes to it.
    """

    def __init__(self, path: str, *, stamp: Stamp, fsync: bool) -> None:
        self.path = path
        self.lost = 0
        self._fsync = fsync
        self._moved = self._spoilt = ""
        self._size = 0
        try:
            self._place = os.path.abspath(path)  # the application may change its folder
            new = _is_new(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(path, flags, 0o666)
            if fsync and new:
                _sync_folder(path)
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise_if_delivered(error)
            raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", file=path) from None
        try:
            self._begin(stamp)
        except BaseException:
            os.close(self._file)
            raise

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that were written before, without their LF."""
        return self._read(self._size)

    @property
    def size(self) -> int:
        """How many bytes its whole lines take."""
        return self._size

    @property
    def changes(self) -> tuple[str, ...]:
        """What others did to the file, as far as it was noticed: a sentence each."""
        return tuple(filter(None, (self._spoilt, self._moved)))

    def drop_torn(self) -> None:
        """Cut off the torn last line.

        Raises:
            OSError: It could not be cut off.
        """
        if self._reach > self._size:
            self._take_back()

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
            self.look()
            if self._spoilt:
                raise OSError(self._spoilt)
            self.drop_torn()
            self._reach = self._size + len(data)
            while data:
                data = data[os.write(self._file, data) :]
            if self._fsync:
                os.fsync(self._file)
        except BaseException:  # one that was delivered, too, leaves no line of which nobody knows whether it counts
            self.lost += 1
            with suppress_own(OSError):
                self._take_back()
            raise
        self._size = self._reach

    def cut(self, place: int, length: int) -> None:
        """Take back what was written of a line, where that can be done.

        Args:
            place: Where it begins.
            length: How long it is, with its LF.
        """
        self._size = place
        self._reach = max(self._reach, place + length)
        with suppress_own(OSError):
            self._take_back()

    def look(self) -> None:
        """Notice what others did to the file. Once it holds what is not ours it is left alone.

        Raises:
            OSError: The file cannot be looked at.
        """
        here = os.fstat(self._file)
        if not self._is_ours(here):
            self._spoilt = self._spoilt or "the journal was closed by the application while the run went on"
        elif not self._size <= here.st_size <= self._reach:
            done = "truncated" if here.st_size < self._size else "written to by somebody else"
            self._spoilt = self._spoilt or f"the journal was {done} while the run went on"
        elif not self._moved:
            self._moved = self._gone(here)

    def digest(self) -> Digest:
        """Return the digest of the whole lines.

        Raises:
            OSError: The file cannot be read.
        """
        digest, left = Digest(), self._size
        os.lseek(self._file, 0, os.SEEK_SET)
        while left and (block := os.read(self._file, min(_BLOCK, left))):
            digest.update(memoryview(block))
            left -= len(block)
        return digest

    def close(self) -> None:
        """Let go of the file."""
        with suppress_own(OSError):
            if self._is_ours(os.fstat(self._file)):
                os.close(self._file)
                self._file = -1  # the number may be given out again

    def _gone(self, here: os.stat_result) -> str:
        """Return what became of the file's name; empty where it is still there."""
        try:
            there = os.stat(self._place)
        except OSError as error:
            raise_if_delivered(error)
            done = "renamed" if here.st_nlink else "deleted"
        else:
            done = "" if os.path.samestat(here, there) else "replaced by another file"
        return done and f"the journal was {done} while the run went on"

    def _is_ours(self, here: os.stat_result) -> bool:
        """Return whether the descriptor still stands for our file; one that somebody closed may be given out again."""
        return (here.st_dev, here.st_ino) == self._identity

    def _take_back(self) -> None:
        """Cut off what was written of a line that failed. Until that works nothing may follow it."""
        self.look()
        if not self._spoilt:
            os.ftruncate(self._file, self._size)
            self._reach = self._size

    def _begin(self, stamp: Stamp) -> None:
        try:
            self._claim()
            self._size, self.torn = self._check(stamp)
            self._reach = self._size + self.torn  # nothing of ours stands behind it
        except OSError as error:
            raise_if_delivered(error)
            raise InputError(f"cannot be used: {error.strerror or error}", file=self.path) from None

    def _claim(self) -> None:
        here = os.fstat(self._file)
        if not stat.S_ISREG(here.st_mode):
            raise InputError("is no regular file", file=self.path)
        self._identity = here.st_dev, here.st_ino
        if sys.platform != "win32":
            try:
                flock(self._file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise InputError("another run writes to it", file=self.path) from None

    def _check(self, stamp: Stamp) -> tuple[int, int]:
        """Return how many bytes whole lines take, and how many follow them; all have to be this run's."""
        end = os.fstat(self._file).st_size
        size, number = 0, 0
        names: Iterable[str] = ()
        for number, line in enumerate(self._read(end), 1):
            try:
                found = _DECODER.decode(line)
                names = names or json.loads(line)
            except (ValueError, RecursionError):
                raise InputError("is no journal of a run", file=self.path, line=number) from None
            if found != stamp:
                what = f"run {found.run_id!r}" if found.run_id != stamp.run_id else "the run under another declaration"
                raise InputError(f"is the journal of {what}", file=self.path, line=number)
            size += len(line) + 1
        if size < end and not _is_torn(self._beginning(size), stamp, names):
            what = "ends with what is no line of this run" if size else "is no journal of this run"
            raise InputError(what, file=self.path, line=number + 1)
        return size, end - size

    def _beginning(self, place: int) -> bytes:
        """Return the first bytes from a place on."""
        os.lseek(self._file, place, os.SEEK_SET)
        return os.read(self._file, _BLOCK)

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


_DECODER: Final = msgspec.json.Decoder(Stamp)


def _is_new(path: str) -> bool:
    """Return whether there is no such file.

    Raises:
        InputError: There is something else: to open a device may do something already.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(found.st_mode):
        raise InputError("is no regular file", file=path)
    return False


def _is_torn(part: bytes, stamp: Stamp, names: Iterable[str]) -> bool:
    """Return whether bytes without an end begin a line of a run.

    Args:
        part: The bytes.
        stamp: What each line of the run begins with.
        names: The fields of its first line, one of which a line begins with; without one only the stamp will do.
    """
    part = part.rstrip(b"\0")  # which a file system may leave when the machine crashes
    stamped = stamp.line({})[:-1]
    begun = [b"{%s:" % json.dumps(name, ensure_ascii=False).encode(errors="replace") for name in names]
    if not begun:
        key = stamped[: stamped.index(b":") + 1]
        return part.startswith(key) and (part.startswith(stamped) or stamped.startswith(part))
    return any(part.startswith(each) or each.startswith(part) for each in begun)


def _sync_folder(path: str) -> None:
    """Wait until a new file's name is on the disk."""
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
