"""Files that somebody else may have made: opened without waiting for ever, and read no further than a limit."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from rop_otel.errors import InputError
from rop_otel.safety.delivered import raise_if_delivered, suppress_own

MAX_FILE_BYTES: Final = 1024 * 1024 * 1024
"""Largest file that is read into memory as a whole, where nothing else was asked for."""

_PATIENCE: Final = 2.0
"""Seconds within which somebody has to open a named pipe for writing."""

_PIECE: Final = 1024 * 1024


def open_input(file: str) -> io.BufferedReader:
    """Open a file that is read once, from its beginning: a regular one, or a pipe that somebody writes to.

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


@contextmanager
def input_errors(file: str) -> Iterator[None]:
    """Raise what the system says of a file as an error that names the file.

    Raises:
        InputError: The block raised an OSError or a ValueError.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        raise_if_delivered(error)
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: {reason(error)}", file=file) from None


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
    """Return in one sentence that a file holds too much."""
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
