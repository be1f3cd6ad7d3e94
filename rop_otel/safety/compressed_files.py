"""Files that may be compressed, with gzip or zstd: bounded memory, and errors that name file and line."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

import zstandard

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest, digested, drain
from rop_otel.safety.files import MAX_FILE_BYTES, input_errors, open_input, too_large

MAX_LINE_BYTES: Final = 256 * 1024 * 1024
"""Longest line, and longest document over several lines, that is read into memory."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPED: Final = tuple(bytes((first,)) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
"""Zstd frames that hold no data; tools that compress in parallel begin with one."""

_BOM: Final = b"\xef\xbb\xbf"
_LENGTH: Final = 4
"""Bytes of the big-endian length that the collector's file exporter puts before each compressed request."""

_ZSTD_STEP: Final = 2048
"""Compressed bytes taken at a time: a block expands at most some 32,000-fold, so this bounds the memory."""


def read_lines(
    file: str,
    *,
    max_bytes: int = MAX_LINE_BYTES,
    max_file_bytes: int = MAX_FILE_BYTES,
    remedy: str = "",
    digest: Digest | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Read the lines of a file, plain, gzip or zstd, whatever its name.

    A file of the collector's file exporter with compression (a length before each zstd frame) is read too; each of
    its requests is one line.

    Args:
        file: The file's name.
        max_bytes: Longest line that is accepted.
        max_file_bytes: How much the file may hold, unpacked.
        remedy: What the user can do about a file that holds more.
        digest: Takes in the bytes as they are stored, all of them once the last line has been read.

    Yields:
        1-based line number and the line, with its end as it is, a leading byte order mark left out.

    Raises:
        InputError: The file cannot be read, is cut short, too large or no file, or has too long a line.
    """
    number = 0
    digest = Digest() if digest is None else digest
    with (
        unpacking_errors(file, lambda: number + 1),
        open_input(file) as source,
        digested(source, digest) as plain,
        unpacked(plain) as stream,
    ):
        left = max_file_bytes
        while line := stream.readline(max_bytes + 1):
            number += 1
            if len(line) > max_bytes:
                raise InputError(
                    f"longer than {max_bytes:,} bytes; write one JSON object per line", file=file, line=number
                )
            left -= len(line)
            if left < 0:
                raise InputError(too_large(max_file_bytes, remedy), file=file)
            if number == 1:
                line = line.removeprefix(_BOM)
            yield number, line
        drain(plain)


@contextmanager
def unpacking_errors(file: str, line: Callable[[], int | None] = lambda: None) -> Iterator[None]:
    """Raise what goes wrong while a file is read and unpacked as an error that names the file.

    Args:
        file: Its name.
        line: Returns the number of the line at which compressed data is damaged, None where it is not known.

    Raises:
        InputError: The file cannot be read, or its compressed data is cut short or damaged.
    """
    with input_errors(file):
        try:
            yield
        except EOFError:
            raise InputError("the compressed data is cut short", file=file, line=line()) from None
        except (zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            raise InputError(f"the compressed data is damaged: {error}", file=file, line=line()) from None


def unpacked(plain: io.BufferedReader) -> io.BufferedReader:
    """Return what a stream holds, unpacked where its first bytes are those of gzip or zstd, else the stream itself."""
    head = plain.peek(_LENGTH + len(_ZSTD))
    if head.startswith(_GZIP):
        return io.BufferedReader(gzip.GzipFile(fileobj=plain))
    if head.startswith((_ZSTD, *_SKIPPED)):
        return io.BufferedReader(_Zstd(plain))
    if head[_LENGTH:].startswith(_ZSTD):
        return io.BufferedReader(_Zstd(plain, framed=True))
    return plain


class _Zstd(io.RawIOBase):
    """Decompress zstd frames one after the other; unlike zstandard's own reader, notice data that is cut short.

    Args:
        source: The compressed bytes.
        framed: Whether a length stands before each frame; a line then ends with each.
    """

    def __init__(self, source: BinaryIO, *, framed: bool = False) -> None:
        self._source = source
        self._framed = framed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # the buffer that BufferedReader hands in
        while not self._ready:
            packed = self._packed or self._source.read(_ZSTD_STEP)
            if not packed and self._frame is None:
                return 0
            if not packed:
                raise EOFError
            if self._frame is None:
                packed = self._after_length(packed) if self._framed else packed
            self._ready = memoryview(self._unpack(packed, self._frame or zstandard.ZstdDecompressor().decompressobj()))
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _after_length(self, packed: bytes) -> bytes:
        while len(packed) <= _LENGTH:
            more = self._source.read(_ZSTD_STEP)
            if not more:
                raise EOFError
            packed += more
        return packed[_LENGTH:]

    def _unpack(self, packed: bytes, frame: zstandard.ZstdDecompressionObj) -> bytes:
        ready = frame.decompress(packed)
        self._frame = None if frame.eof else frame
        self._packed = frame.unused_data if frame.eof else b""
        return ready + b"\n" if frame.eof and self._framed else ready
