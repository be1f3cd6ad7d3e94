"""Record files as blocks of whole lines: plain, gzip or zstd, in bounded memory."""

from __future__ import annotations

import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import zstandard

from rop_otel.errors import InputError
from rop_otel.replay.limits import Limits
from rop_otel.spans.files import unpacked

STDIN: Final = "-"
"""The name of standard input."""

_PARQUET: Final = b"PAR1"

_BLOCK: Final = 64 * 1024
"""Bytes read at a time: the records of one block stay in the processor's cache."""


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


def is_parquet(file: str) -> bool:
    """Return whether a file is Parquet, by its name or its first bytes."""
    if file.endswith((".parquet", ".pq")):
        return True
    try:
        with open(file, "rb") as stream:
            return stat.S_ISREG(os.fstat(stream.fileno()).st_mode) and stream.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False


def read_blocks(file: str, *, limits: Limits, progress: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Read a record file in blocks of whole lines, each ending with LF but perhaps the last of the file.

    Args:
        file: Its name, ``-`` for standard input. What ends with ``.gz`` or ``.zst`` must be compressed; what else is,
            is told by its first bytes.
        limits: How long a line may be.
        progress: Told how many bytes of the file as it lies on disk have been read since it was last told.

    Raises:
        InputError: The file cannot be read, is cut short, has too long a line, or changes while it is read.
    """
    with _errors_of(file), _opened(file) as plain:
        before = os.fstat(plain.fileno()) if file != STDIN else None
        stream = unpacked(plain)
        if file.endswith((".gz", ".zst")) and stream is plain:
            raise InputError("holds no compressed data, though its name says so", file=file)
        told = 0
        for block in _whole_lines(stream, file, limits):
            yield block
            if progress is not None and before is not None:
                progress(plain.tell() - told)
                told = plain.tell()
        if before is not None:
            after = os.fstat(plain.fileno())
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise InputError("changed while it was read; evaluate a file that is complete", file=file)


def _whole_lines(stream: io.BufferedReader, file: str, limits: Limits) -> Iterator[bytes]:
    held: list[bytes] = []
    length = line = 0
    while piece := stream.read1(_BLOCK):
        cut = piece.rfind(b"\n") + 1
        if cut:
            block = b"".join((*held, piece[:cut]))
            line += block.count(b"\n")
            yield block
            held, length = [], 0
        rest = piece[cut:] if cut else piece
        if rest:
            held.append(rest)
            length += len(rest)
        if length > limits.max_line_bytes:
            why = f"longer than {limits.max_line_bytes:,} bytes; raise --max-line-bytes to read it"
            raise InputError(why, file=file, line=line + 1)
    if held:
        yield b"".join(held)


@contextmanager
def _opened(file: str) -> Iterator[io.BufferedReader]:
    if file == STDIN:
        yield sys.stdin.buffer  # type: ignore[misc] # a buffered reader, typed as any binary stream
        return
    if os.path.isdir(file):
        raise InputError("is a folder; name the files in it", file=file)
    with open(file, "rb") as plain:
        yield plain


@contextmanager
def _errors_of(file: str) -> Iterator[None]:
    try:
        yield
    except EOFError:
        raise InputError("the compressed data is cut short", file=file) from None
    except (zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        raise InputError(f"the compressed data is damaged: {error}", file=file) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: {error}", file=file) from None
