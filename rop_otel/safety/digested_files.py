"""Files whose bytes are counted and hashed as they are stored, while they are read."""

from __future__ import annotations

import hashlib
import io
from typing import Final

from rop_otel.safety.files import open_input

_PIECE: Final = 1024 * 1024
_BUFFER: Final = 128 * 1024


class Digest:
    """Takes in the bytes of one file, in their order.

    Attributes:
        bytes: How many there were.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes so far, 64 lower-case hex digits."""
        return self._hash.hexdigest()

    def update(self, piece: memoryview) -> None:
        """Take in the next bytes."""
        self._hash.update(piece)
        self.bytes += len(piece)


def digested(source: io.BufferedReader, digest: Digest) -> io.BufferedReader:
    """Return a stream of the same bytes, which are taken in as they are read."""
    return io.BufferedReader(_Digested(source, digest), _BUFFER)


def drain(stream: io.BufferedReader) -> None:
    """Read a stream to its end: what stands behind compressed data is stored, too."""
    while stream.read1(_PIECE):
        pass


def digest_of(file: str) -> Digest:
    """Return the digest of a file, which is read for it.

    Raises:
        InputError: It is a device, or a pipe that nobody writes to.
        OSError: It cannot be read.
    """
    digest = Digest()
    with open_input(file) as source:
        drain(digested(source, digest))
    return digest


class _Digested(io.RawIOBase):
    def __init__(self, source: io.BufferedReader, digest: Digest) -> None:
        self._source, self._digest = source, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # the buffer that BufferedReader hands in
        count = self._source.readinto1(buffer)
        self._digest.update(buffer[:count])
        return count
