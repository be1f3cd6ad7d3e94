"""Opens files that others may have made, without waiting for ever, and reads them up to a limit."""

from __future__ import annotations

import io
import os
import stat
from threading import Thread
from types import TracebackType
from typing import Final

from rop_otel.errors import InputError
from rop_otel.safety.delivered import is_delivered, raise_if_delivered, suppress_own

MAX_FILE_BYTES: Final = 1024 * 1024 * 1024
"""Largest file that is read into memory as a whole, where nothing else was asked for."""

_PATIENCE: Final = 2.0
"""Seconds within which somebody has to open a named pipe for writing."""

_PIECE: Final = 1024 * 1024


def open_input(file: str) -> io.BufferedReader:
    """Open a file that is read once, from its beginning: a regular file, or a pipe with a writer.

    Args:
        file: Its name. A pipe that a shell hands over, as in ``<(zcat spans.gz)`` or ``/dev/stdin``, has one, too.

    Raises:
        InputError: It is a device, or a pipe that nobody writes to.
        OSError: It cannot be opened.
        ValueError: No file can have this name.
    """
    mode = os.stat(file).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError("is no regular file but a device", file=file)
    return open(_open_pipe(file), "rb") if stat.S_ISFIFO(mode) else open(file, "rb")


def read_whole(file: str, *, most: int = MAX_FILE_BYTES, remedy: str = "") -> bytes:
    """Return what a file holds.

    Args:
        file: Its name.
        most: How many bytes it may hold.
        remedy: What the user can do about a file that holds more.

    Raises:
        InputError: It holds more, cannot be read, or is neither a regular file nor a pipe that somebody writes to.
    """
    with input_errors(file), open_input(file) as stream:
        data = read_up_to(stream, most)
    if data is None:
        raise InputError(too_large(most, remedy), file=file)
    return data


class input_errors:  # noqa: N801 - used like a function
    """A ``with`` block that turns the system's errors about a file into an InputError that names the file.

    An OSError or a ValueError becomes one, unless it is one already, or was delivered.

    Args:
        file: The file's name.
    """

    __slots__ = ("_file",)

    def __init__(self, file: str) -> None:
        self._file = file

    def __enter__(self) -> None:
        return None

    # No generator: whether an exception was delivered is read from its traceback, which a generator would change.
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, OSError | ValueError) and not isinstance(error, InputError) and not is_delivered(error):
            raise InputError(f"cannot be read: {reason(error)}", file=self._file) from None


def reason(error: Exception) -> str:
    """Return why a file cannot be read, without the file's name."""
    return getattr(error, "strerror", None) or str(error)


def read_up_to(stream: io.BufferedReader, most: int) -> bytes | None:
    """Return what a stream holds, or None where that is more than so many bytes; no memory is taken in advance."""
    pieces, left = [], most
    while left >= 0 and (piece := stream.read(min(_PIECE, left + 1))):
        pieces.append(piece)
        left -= len(piece)
    return None if left < 0 else b"".join(pieces)


def too_large(most: int, remedy: str = "") -> str:
    """Return the message about a file that holds too much."""
    return f"holds more than {most:,} bytes{remedy and f'; {remedy}'}"


def _open_pipe(file: str) -> int:
    """Open a pipe. The system waits until somebody writes to it, perhaps for ever, so that a thread opens it."""
    opened: list[int | OSError] = []

    def wait() -> None:
        try:
            opened.append(os.open(file, os.O_RDONLY))
        except OSError as error:
            raise_if_delivered(error)
            opened.append(error)

    thread = Thread(target=wait, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    in_time = bool(opened)
    if not in_time:
        with suppress_own(OSError):
            os.close(os.open(file, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))  # which lets the thread go on
        thread.join(_PATIENCE)
    found = opened[0] if opened else None
    if isinstance(found, OSError):
        raise found
    if found is None or not in_time:
        if found is not None:
            os.close(found)
        raise InputError("is no regular file but a pipe that nobody writes to", file=file)
    return found
