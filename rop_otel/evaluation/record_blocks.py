"""Record files as blocks of whole lines: plain, gzip or zstd, in bounded memory."""

from __future__ import annotations

import glob
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from rop_otel.errors import InputError, remedy
from rop_otel.evaluation.limits import RAISE_UNPACKED_BYTES, Limits
from rop_otel.safety.compressed_files import unpacked, unpacking_errors
from rop_otel.safety.digested_files import Digest, digested, drain
from rop_otel.safety.files import open_input, too_large

STDIN: Final = "-"
"""The name of standard input."""

_PARQUET: Final = b"PAR1"

_BLOCK: Final = 1024 * 1024
"""Bytes read at a time: enough lines to be worth whole columns, few enough to stay in the processor's cache."""

CHANGED: Final = "changed while it was read; evaluate a file that is complete"


def expand(names: Sequence[str]) -> list[str]:
    """Return the files that names stand for: a pattern is replaced by what it matches, sorted.

    Raises:
        InputError: A pattern matches nothing.
    """
    files: list[str] = []
    for name in names:
        if name == STDIN or os.path.lexists(name) or not glob.has_magic(name):
            files.append(name)
            continue
        found = sorted(glob.glob(name, recursive=True))
        if not found:
            raise InputError("the pattern matches no file", file=name)
        files.extend(found)
    return files


def need_pyarrow(file: str) -> None:
    """Refuse a Parquet file, in one sentence, where what reads it is not installed.

    Raises:
        InputError: pyarrow is missing.
    """
    try:
        import_module("pyarrow")  # an extra
    except ImportError:
        raise InputError(f"is Parquet, which needs pyarrow: {remedy('parquet')}", file=file) from None


def is_parquet(file: str) -> bool:
    """Return whether a file is Parquet, by its name or its first bytes."""
    if file.endswith((".parquet", ".pq")):
        return True
    try:
        # A pipe is not opened: what is read from it would be gone.
        if not stat.S_ISREG(os.stat(file).st_mode):
            return False
        with open(file, "rb") as stream:
            return stream.read(len(_PARQUET)) == _PARQUET
    except (OSError, ValueError):
        return False


def is_large(file: str, size: int) -> bool:
    """Return whether a file holds at least so many bytes, as far as that is known: a pipe may hold any number."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return file == STDIN
    return found.st_size >= size or not stat.S_ISREG(found.st_mode)


def read_blocks(
    file: str, *, limits: Limits, progress: Callable[[int], None] | None = None, digest: Digest | None = None
) -> Iterator[bytes]:
    """Read a record file in blocks of whole lines, each ending with LF but perhaps the last of the file.

    Args:
        file: Its name, ``-`` for standard input. What ends with ``.gz`` or ``.zst`` must be compressed; of other
            files the first bytes say whether they are.
        limits: How long a line may be, and how much may be unpacked or come through a pipe.
        progress: Called with the bytes of the file on disk that have been read since the last call.
        digest: Takes in the bytes as they are stored, all of them once the last block has been read.

    Raises:
        InputError: The file cannot be read, is cut short, has too long a line, or changes while it is read.
    """
    digest = Digest() if digest is None else digest
    with unpacking_errors(file), _opened(file) as source, digested(source, digest) as plain:
        before = None if file == STDIN else _state(source)
        stream = unpacked(plain)
        if file.endswith((".gz", ".zst")) and stream is plain:
            raise InputError("holds no compressed data, though its name says so", file=file)
        reported = 0
        left = None if stream is plain and before is not None else limits.max_unpacked_bytes
        for block in _whole_lines(stream, file, limits):
            if left is not None:
                left -= len(block)
                if left < 0:
                    raise InputError(too_large(limits.max_unpacked_bytes, RAISE_UNPACKED_BYTES), file=file)
            yield block
            if progress is not None and before is not None:
                progress(digest.bytes - reported)
                reported = digest.bytes
        drain(plain)
        if before is not None and _state(source) != before:
            raise InputError(CHANGED, file=file)


def read_numbered_lines(file: str, *, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Read a record file line by line.

    Args:
        file: As for :func:`read_blocks`.
        limits: Likewise.

    Yields:
        1-based line number and the line without its LF.

    Raises:
        InputError: As for :func:`read_blocks`.
    """
    blocks = read_blocks(file, limits=limits)
    yield from enumerate((line for block in blocks for line in block.removesuffix(b"\n").split(b"\n")), 1)


def _state(plain: io.BufferedReader) -> tuple[int, int] | None:
    """Return what changes with a regular file, None for a pipe."""
    found = os.fstat(plain.fileno())
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _whole_lines(stream: io.BufferedReader, file: str, limits: Limits) -> Iterator[bytes]:
    held: list[bytes] = []
    length = done = 0
    while piece := stream.read1(_BLOCK):
        cut = piece.rfind(b"\n") + 1
        if cut:
            block = b"".join((*held, piece[:cut]))
            if len(block) > limits.max_line_bytes:
                _check_lengths(block, done, file, limits)
            done += len(block)
            yield block
            held, length = [], 0
        if cut < len(piece):
            held.append(piece[cut:])
            length += len(piece) - cut
        if length > limits.max_line_bytes:
            raise _too_long(file, done, limits)
    if held:
        yield b"".join(held)


def _check_lengths(block: bytes, done: int, file: str, limits: Limits) -> None:
    for text in block.split(b"\n"):
        if len(text) > limits.max_line_bytes:
            raise _too_long(file, done, limits)
        done += len(text) + 1


def _too_long(file: str, start: int, limits: Limits) -> InputError:
    why = f"longer than {limits.max_line_bytes:,} bytes; raise --max-line-bytes to read it"
    return InputError(why, file=file, line=_line_at(file, start))


def _line_at(file: str, start: int) -> int | None:
    """Return the number of the line that starts at a place; lines are counted only for an error."""
    if not os.path.isfile(file):
        return None
    line = 1
    with open(file, "rb") as plain, unpacked(plain) as stream:
        while start > 0 and (piece := stream.read1(min(_BLOCK, start))):
            line += piece.count(b"\n")
            start -= len(piece)
    return line


@contextmanager
def _opened(file: str) -> Iterator[io.BufferedReader]:
    if file == STDIN:
        yield sys.stdin.buffer  # type: ignore[misc] # a buffered reader, typed as any binary stream
        return
    if os.path.isdir(file):
        raise InputError("is a folder; name the files in it", file=file)
    with open_input(file) as plain:
        yield plain
